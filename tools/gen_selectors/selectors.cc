// SPDX-License-Identifier: Apache-2.0

#include "tools/gen_selectors/selectors.h"

#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/strip.h"

namespace farcall::selectors {
namespace {

bool HasOrEmpty(const std::vector<std::string>& values, const std::string& value) {
  return values.empty() || std::find(values.begin(), values.end(), value) != values.end();
}

// `pattern` anywhere in `text`; a dot is any character.
bool MatchesSomewhere(absl::string_view pattern, absl::string_view text) {
  const auto found = std::search(text.begin(), text.end(), pattern.begin(), pattern.end(),
                                 [](char c, char p) { return p == '.' || p == c; });
  return found != text.end() || pattern.empty();
}

}  // namespace

bool IsSeen(Plugin plugin, const Function& function) {
  if (function.pci.empty() || !function.is_network) return false;
  if (plugin == Plugin::kShared) return true;
  return function.numvfs == 0 && !function.default_route;
}

bool MatchesPfName(absl::string_view value, absl::string_view name) {
  if (absl::EqualsIgnoreCase(value, name)) return true;
  if (absl::ConsumePrefix(&value, "^") && absl::ConsumeSuffix(&value, "$")) {
    return absl::StrReplaceAll(value, {{"\\.", "."}}) == name;
  }
  return MatchesSomewhere(value, name);
}

std::string Anchored(absl::string_view name) {
  return absl::StrCat("^", absl::StrReplaceAll(name, {{".", "\\."}}), "$");
}

bool IsPlainName(absl::string_view name) {
  return !name.empty() && std::all_of(name.begin(), name.end(), [](char c) {
    return absl::ascii_isalnum(static_cast<unsigned char>(c)) ||
           absl::StrContains("_.:@-", absl::string_view(&c, 1));
  });
}

bool Selects(Plugin plugin, const Selectors& selectors, const Function& function) {
  if (!IsSeen(plugin, function)) return false;
  if (!HasOrEmpty(selectors.vendors, function.vendor)) return false;
  if (!HasOrEmpty(selectors.devices, function.device)) return false;
  if (!HasOrEmpty(selectors.drivers, function.driver)) return false;
  if (!HasOrEmpty(selectors.link_types, function.link_type)) return false;
  if (plugin == Plugin::kShared) return HasOrEmpty(selectors.if_names, function.if_name);
  if (selectors.pf_names.empty()) return true;
  return !function.pf_name.empty() &&
         std::any_of(
             selectors.pf_names.begin(), selectors.pf_names.end(),
             [&](const std::string& value) { return MatchesPfName(value, function.pf_name); });
}

}  // namespace farcall::selectors
