// SPDX-License-Identifier: Apache-2.0

#include "rpc/settings/settings_table.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "rpc/runtime_options.h"
#include "transport/base/option_field.h"

namespace farcall {
namespace {

// "rdma" of "rdma.ack_timeout"; of "event_loops" nothing.
absl::string_view GroupOf(const OptionField& field) {
  const absl::string_view name = field.name;
  const size_t dot = name.find('.');
  return dot == absl::string_view::npos ? "" : name.substr(0, dot);
}

}  // namespace

std::string SettingsTemplate() {
  RuntimeOptions options;
  std::string text =
      "# Settings of farcall: take away the # before what shall be otherwise than by default.\n"
      "# A name that is not known here, or a value out of bounds, ends the program at its start.\n";
  absl::string_view group;
  for (const OptionField& field : Fields(options)) {
    const absl::string_view own_group = GroupOf(field);
    if (own_group != group) {
      group = own_group;
      absl::StrAppend(&text, "\n", group, ":\n");
    }
    const absl::string_view indent = group.empty() ? "" : "  ";
    const absl::string_view name =
        absl::string_view(field.name).substr(group.empty() ? 0 : group.size() + 1);
    absl::StrAppend(&text, indent, "# ", field.meaning, "; ", Expected(field), "\n", indent, "# ",
                    name, ": ", Text(field), "\n");
  }
  return text;
}

}  // namespace farcall
