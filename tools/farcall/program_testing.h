// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_TOOLS_FARCALL_PROGRAM_TESTING_H_
#define FARCALL_TOOLS_FARCALL_PROGRAM_TESTING_H_

#include <sstream>
#include <string>
#include <vector>

#include "tools/farcall/command.h"

namespace farcall::cli {

// A run of the program in this process, and what came of it.
struct Outcome {
  explicit Outcome(const std::vector<std::string>& arguments, const std::string& input = "") {
    std::istringstream in(input);
    std::ostringstream out_stream, err_stream;
    Streams streams{in, out_stream, err_stream};
    code = RunProgram(arguments, streams);
    out = out_stream.str();
    err = err_stream.str();
  }
  int code;
  std::string out;
  std::string err;
};

}  // namespace farcall::cli

#endif  // FARCALL_TOOLS_FARCALL_PROGRAM_TESTING_H_
