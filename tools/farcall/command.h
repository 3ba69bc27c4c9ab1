// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_TOOLS_FARCALL_COMMAND_H_
#define FARCALL_TOOLS_FARCALL_COMMAND_H_

#include <istream>
#include <ostream>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "tools/farcall/text/arguments.h"

namespace farcall::cli {

// What the program ends with.
enum ExitCode : int {
  kSuccess = 0,
  kCallFailed = 1,  // the server, or the way there, failed the call or some of them
  kBadArguments = 2,
  kNoConnection = 3,  // the server was not reached
};

struct Streams {
  std::istream& in;
  std::ostream& out;  // results
  std::ostream& err;  // all else
};

// A subcommand.
struct Command {
  const char* name;
  const char* summary;  // one line
  const char* help;     // above the options
  std::vector<Option> options;
  // An ExitCode. An error is printed: kInvalidArgument ends with kBadArguments, kUnavailable with
  // kNoConnection, others with kCallFailed.
  absl::StatusOr<int> (*run)(const Arguments&, Streams&);
};

Command CallCommand();
Command PressCommand();
Command ListCommand();
Command StatusCommand();
Command DumpCommand();
Command SettingsCommand();

// `arguments`: without the program's name.
int RunProgram(const std::vector<std::string>& arguments, Streams& streams);

}  // namespace farcall::cli

#endif  // FARCALL_TOOLS_FARCALL_COMMAND_H_
