// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_TOOLS_DOCTOR_CHECKS_CHECKS_TESTING_H_
#define FARCALL_TOOLS_DOCTOR_CHECKS_CHECKS_TESTING_H_

#include <gtest/gtest.h>

#include <map>
#include <string>

#include "tools/doctor/checks/finding.h"
#include "tools/node/inventory.h"
#include "tools/node/testing/fixture.h"

namespace farcall::doctor {

// A host as the fixture of this name has it.
inline node::Inventory Read(const char* fixture) {
  static std::map<std::string, node::Inventory> known;
  auto [at, fresh] = known.try_emplace(fixture);
  if (fresh) at->second = node::ReadInventory(node::FixtureTree::Named(fixture).root());
  return at->second;
}

inline bool Says(const Finding& finding, const std::string& text) {
  return finding.finding.find(text) != std::string::npos ||
         finding.meaning.find(text) != std::string::npos ||
         finding.cure.find(text) != std::string::npos;
}

inline const Finding* Find(const Findings& findings, const std::string& check) {
  for (const Finding& finding : findings) {
    if (finding.check == check) return &finding;
  }
  return nullptr;
}

inline Verdict VerdictOf(const Findings& findings, const std::string& check) {
  const Finding* const finding = Find(findings, check);
  EXPECT_NE(finding, nullptr) << check;
  return finding == nullptr ? Verdict::kUnknown : finding->verdict;
}

}  // namespace farcall::doctor

#endif  // FARCALL_TOOLS_DOCTOR_CHECKS_CHECKS_TESTING_H_
