// SPDX-License-Identifier: Apache-2.0
//
// What docs/operations.md and docs/status.md tell of metrics and reasons is what is exported.

#include <fstream>
#include <regex>
#include <set>
#include <sstream>
#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "rpc/status/status_metrics.h"
#include "rpc/status/status_testing.h"

namespace farcall {
namespace {

std::string Page(const std::string& name) {
  std::ifstream file("docs/" + name);
  EXPECT_TRUE(file) << name;
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

std::set<std::string> Named(const std::string& page) {
  static const std::regex kMetric("\\b(farcall|process)_[a-z0-9_]*[a-z0-9]");
  std::set<std::string> names;
  for (std::sregex_iterator i(page.begin(), page.end(), kMetric), end; i != end; ++i) {
    names.insert(std::regex_replace(i->str(), std::regex("_bucket$"), ""));
  }
  return names;
}

std::set<std::string> Exported() {
  std::set<std::string> names;
  for (const auto& family : StatusMetrics(SampleStatus())) names.insert(family.name);
  return names;
}

TEST(PagesMetricsTest, EachMetricThatAPageNamesIsExported) {
  const std::set<std::string> exported = Exported();
  for (const char* page : {"operations.md", "status.md"}) {
    const std::set<std::string> named = Named(Page(page));
    EXPECT_FALSE(named.empty());
    for (const std::string& name : named)
      EXPECT_TRUE(exported.contains(name)) << page << ": " << name;
  }
}

TEST(PagesMetricsTest, EachMetricIsListed) {
  const std::set<std::string> listed = Named(Page("status.md"));
  for (const std::string& name : Exported()) EXPECT_TRUE(listed.contains(name)) << name;
}

TEST(PagesMetricsTest, EachMetricOfRdmaIsExplained) {
  const std::set<std::string> explained = Named(Page("operations.md"));
  for (const std::string& name : Exported()) {
    if (!absl::StartsWith(name, "farcall_rdma_")) continue;
    EXPECT_TRUE(explained.contains(name)) << name;
  }
}

TEST(PagesMetricsTest, EachReasonHasItsPlace) {
  const std::string operations = Page("operations.md");
  const std::string rdma = Page("rdma.md");
  for (size_t i = 0; i < kWhyNotRdmaCount; ++i) {
    const std::string row = absl::StrCat("\n| `", Name(static_cast<WhyNotRdma>(i)), "` | ");
    EXPECT_TRUE(absl::StrContains(operations, row)) << row;
    if (static_cast<WhyNotRdma>(i) == WhyNotRdma::kInUse) continue;
    EXPECT_TRUE(absl::StrContains(rdma, row)) << row;
  }
}

}  // namespace
}  // namespace farcall
