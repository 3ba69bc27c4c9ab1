// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "rpc/runtime_options.h"
#include "rpc/settings/settings.h"
#include "rpc/settings/settings_table.h"
#include "rpc/settings/variables.h"
#include "tools/farcall/command.h"

namespace farcall::cli {
namespace {

constexpr char kHelp[] =
    R"(usage: farcall settings [FILE] [OPTION...]

Prints what a program that sets no RuntimeOptions takes here: of the file that the variable
FARCALL_CONFIG names, or of FILE in its place, and of variables FARCALL_<SETTING>. Each value
comes with where it is from. What is wrong with them is an error that names line and bounds.

  farcall settings /etc/farcall.yaml
  farcall settings --template > farcall.yaml

docs/settings.md has all settings.

Exit codes: 0 success, 2 wrong arguments, or settings that no program would start with.
)";

std::string Padded(std::string text, size_t width) {
  text.resize(std::max(width, text.size()), ' ');
  return text;
}

absl::StatusOr<int> Run(const Arguments& arguments, Streams& streams) {
  if (arguments.words().size() > 1) return absl::InvalidArgumentError("settings takes one FILE");
  if (arguments.Has("--template")) {
    streams.out << SettingsTemplate();
    return kSuccess;
  }
  if (!arguments.words().empty() && setenv(kConfigVariable, arguments.words()[0].c_str(), 1) != 0) {
    return absl::InternalError("setenv failed");
  }
  RuntimeOptions options;
  const auto all = ApplyOperatorSettings(&options);
  if (!all.ok()) return absl::InvalidArgumentError(all.status().message());
  size_t names = 0;
  size_t values = 0;
  for (const OptionStatus& one : *all) {
    names = std::max(names, one.name.size());
    // A long list is not worth the width of the whole column.
    values = std::max(values, std::min<size_t>(one.value.size(), 24));
  }
  for (const OptionStatus& one : *all) {
    streams.out << Padded(one.name, names) << "  " << Padded(one.value, values) << "  " << one.from
                << "\n";
  }
  return kSuccess;
}

}  // namespace

Command SettingsCommand() {
  std::vector<Option> options = {
      {"--template", "", "print a file with all settings, as comments, to begin with"},
  };
  return {"settings", "show the operator's settings, and check them", kHelp, std::move(options),
          Run};
}

}  // namespace farcall::cli
