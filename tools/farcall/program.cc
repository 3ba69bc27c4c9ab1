// SPDX-License-Identifier: Apache-2.0

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "tools/farcall/command.h"

namespace farcall::cli {
namespace {

std::string Help(const std::vector<Command>& commands) {
  std::string text =
      "usage: farcall COMMAND TARGET ...\n\n"
      "Talks to farcall servers, and to others that speak baidu_std.\n\n";
  for (const Command& command : commands) {
    std::string name = absl::StrCat("  ", command.name);
    name.resize(10, ' ');
    absl::StrAppend(&text, name, command.summary, "\n");
  }
  absl::StrAppend(
      &text,
      "\n\"farcall COMMAND --help\" tells more of each. Settings are flags, too: --rdma.rails=2\n"
      "(farcall settings; docs/settings.md). To begin with:\n\n",
      "  farcall list 127.0.0.1:8002\n");
  return text;
}

bool AsksForHelp(const std::string& word) {
  return word == "--help" || word == "-h" || word == "help";
}

int PrintError(const absl::Status& error, const Command& command, std::ostream& err) {
  err << "farcall: " << std::string(error.message()) << "\n";
  if (error.code() == absl::StatusCode::kInvalidArgument) {
    err << "\"farcall " << command.name << " --help\" tells what it takes.\n";
    return kBadArguments;
  }
  return error.code() == absl::StatusCode::kUnavailable ? kNoConnection : kCallFailed;
}

}  // namespace

int RunProgram(const std::vector<std::string>& arguments, Streams& streams) {
  const std::vector<Command> commands = {CallCommand(),   PressCommand(), ListCommand(),
                                         StatusCommand(), DumpCommand(),  SettingsCommand()};
  if (arguments.empty()) {
    streams.err << Help(commands);
    return kBadArguments;
  }
  if (AsksForHelp(arguments[0])) {
    streams.out << Help(commands);
    return kSuccess;
  }
  const auto command =
      std::find_if(commands.begin(), commands.end(),
                   [&](const Command& candidate) { return candidate.name == arguments[0]; });
  if (command == commands.end()) {
    streams.err << "farcall: there is no command " << arguments[0] << "\n\n" << Help(commands);
    return kBadArguments;
  }
  const std::vector<std::string> rest(arguments.begin() + 1, arguments.end());
  const bool help = std::any_of(rest.begin(), rest.end(), [](const std::string& word) {
    return word == "--help" || word == "-h";
  });
  if (help) {
    streams.out << command->help << "\n" << HelpOf(command->options);
    return kSuccess;
  }
  const auto parsed = Arguments::Parse(command->options, rest);
  if (!parsed.ok()) return PrintError(parsed.status(), *command, streams.err);
  const absl::StatusOr<int> code = command->run(*parsed, streams);
  return code.ok() ? *code : PrintError(code.status(), *command, streams.err);
}

}  // namespace farcall::cli
