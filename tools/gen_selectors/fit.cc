// SPDX-License-Identifier: Apache-2.0

#include "tools/gen_selectors/fit.h"

#include <algorithm>
#include <set>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "transport/base/check.h"

namespace farcall::selectors {
namespace {

using Values = std::vector<std::string>;

// The values of the wanted ones; none if one of them has none, since no selector then takes it.
Values ValuesOf(const std::vector<Function>& functions, const std::vector<bool>& wanted,
                std::string Function::*field) {
  std::set<std::string> values;
  for (size_t i = 0; i < functions.size(); ++i) {
    if (wanted[i]) values.insert(functions[i].*field);
  }
  if (values.count("") > 0) return {};
  return Values(values.begin(), values.end());
}

// The first that is wanted and not selected, or the other way round; functions.size(): none.
size_t FirstWrong(Plugin plugin, const Selectors& selectors, const std::vector<Function>& functions,
                  const std::vector<bool>& wanted) {
  size_t i = 0;
  while (i < functions.size() && Selects(plugin, selectors, functions[i]) == wanted[i]) ++i;
  return i;
}

// From the widest to the narrowest. The last has a value in every list that can have one, and only
// values of wanted functions: what it selects too, all selectors for the wanted ones do.
std::vector<Selectors> Candidates(Plugin plugin, const std::vector<Function>& functions,
                                  const std::vector<bool>& wanted) {
  const auto values = [&](std::string Function::*field) {
    return ValuesOf(functions, wanted, field);
  };
  Selectors at;
  at.vendors = values(&Function::vendor);
  at.devices = values(&Function::device);
  at.link_types = values(&Function::link_type);
  std::vector<Selectors> candidates = {at};
  at.drivers = values(&Function::driver);
  candidates.push_back(at);
  if (plugin == Plugin::kShared) {
    Selectors without_driver = candidates.front();
    without_driver.if_names = values(&Function::if_name);
    candidates.push_back(without_driver);
    at.if_names = values(&Function::if_name);
    candidates.push_back(at);
    return candidates;
  }
  // A driver's name also keeps out functions that were given to virtual machines.
  candidates.erase(candidates.begin());
  const Values names = values(&Function::pf_name);
  if (!std::all_of(names.begin(), names.end(), IsPlainName)) return candidates;
  at.pf_names = names;
  candidates.push_back(at);
  for (std::string& name : at.pf_names) name = Anchored(name);
  candidates.push_back(at);
  return candidates;
}

bool IsEmpty(const Selectors& s) {
  return s.vendors.empty() && s.devices.empty() && s.drivers.empty() && s.if_names.empty() &&
         s.link_types.empty() && s.pf_names.empty();
}

absl::Status CannotDistinguish(const Function& function, bool wanted) {
  if (wanted) {
    return absl::FailedPreconditionError(
        absl::StrCat("the plugin does not see ", Describe(function), " of ", function.node,
                     ": it looks only at PCI functions of class 02 (network)"));
  }
  return absl::FailedPreconditionError(absl::StrCat(
      Describe(function), " of ", function.node,
      " would be selected too: in vendor, device, driver, link type and name of interface it is "
      "like those that are wanted, on its node or on another"));
}

}  // namespace

absl::StatusOr<Selectors> Fit(Plugin plugin, const std::vector<Function>& functions,
                              const std::vector<bool>& wanted, size_t* in_the_way) {
  Check(functions.size() == wanted.size(), "a flag for each function");
  if (in_the_way != nullptr) *in_the_way = functions.size();
  Selectors narrowest;
  for (const Selectors& candidate : Candidates(plugin, functions, wanted)) {
    // The plugins refuse a resource without selectors, or give it everything.
    if (IsEmpty(candidate)) continue;
    if (FirstWrong(plugin, candidate, functions, wanted) == functions.size()) return candidate;
    narrowest = candidate;
  }
  if (IsEmpty(narrowest)) {
    return absl::FailedPreconditionError(
        "the nodes do not tell vendor, device, driver or interface of what is wanted: collect "
        "again with the host's /sys");
  }
  const size_t wrong = FirstWrong(plugin, narrowest, functions, wanted);
  if (in_the_way != nullptr) *in_the_way = wrong;
  return CannotDistinguish(functions[wrong], wanted[wrong]);
}

}  // namespace farcall::selectors
