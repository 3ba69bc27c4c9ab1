// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_TOOLS_GEN_SELECTORS_PROGRAM_H_
#define FARCALL_TOOLS_GEN_SELECTORS_PROGRAM_H_

#include <istream>
#include <ostream>
#include <string>
#include <vector>

namespace farcall::selectors {

// What the program ends with.
enum ExitCode : int {
  kPrinted = 0,
  kCannotSelect = 1,  // nothing to select, or no selectors select just that
  kBadArguments = 2,  // or input that cannot be read
};

struct Streams {
  std::istream& in;
  std::ostream& out;  // the ConfigMap, table or JSON
  std::ostream& err;  // all else
};

// `arguments`: without the program's name.
int RunProgram(const std::vector<std::string>& arguments, Streams& streams);

}  // namespace farcall::selectors

#endif  // FARCALL_TOOLS_GEN_SELECTORS_PROGRAM_H_
