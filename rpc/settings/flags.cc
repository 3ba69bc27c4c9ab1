// SPDX-License-Identifier: Apache-2.0

#include "rpc/settings/flags.h"

#include <algorithm>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"

namespace farcall {

std::vector<Setting> TakeFlags(int* argc, char** argv, const std::vector<OptionField>& fields) {
  std::vector<Setting> settings;
  int kept = std::min(*argc, 1);
  for (int i = kept; i < *argc; ++i) {
    absl::string_view name = argv[i];
    if (name == "--") {
      while (i < *argc) argv[kept++] = argv[i++];
      break;
    }
    const size_t equals = name.find('=');
    const bool with_value = equals != absl::string_view::npos;
    absl::string_view value = with_value ? name.substr(equals + 1) : "";
    name = name.substr(0, equals);
    const bool known = absl::ConsumePrefix(&name, "--") &&
                       std::any_of(fields.begin(), fields.end(),
                                   [&](const OptionField& field) { return field.name == name; });
    if (!known) {
      argv[kept++] = argv[i];
      continue;
    }
    if (!with_value && i + 1 < *argc) value = argv[++i];
    settings.push_back(
        {std::string(name), std::string(value), absl::StrCat("--", name), /*wins=*/true});
  }
  *argc = kept;
  argv[kept] = nullptr;
  return settings;
}

}  // namespace farcall
