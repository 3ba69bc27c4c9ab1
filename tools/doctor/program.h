// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_TOOLS_DOCTOR_PROGRAM_H_
#define FARCALL_TOOLS_DOCTOR_PROGRAM_H_

#include <functional>
#include <ostream>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "rpc/runtime/server.h"

namespace farcall::doctor {

struct Streams {
  std::ostream& out;  // the report
  std::ostream& err;  // progress, and what is wrong with the arguments
};

// Lets a server that has started serve until the process is asked to quit, and stops it.
using ServeToTheEnd = std::function<absl::Status(Server&)>;

// `arguments`: without the program's name. Returns an ExitCode.
int RunProgram(const std::vector<std::string>& arguments, const Streams& streams,
               const ServeToTheEnd& serve);

}  // namespace farcall::doctor

#endif  // FARCALL_TOOLS_DOCTOR_PROGRAM_H_
