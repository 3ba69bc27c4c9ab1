// SPDX-License-Identifier: Apache-2.0

#include "rpc/settings/settings_table.h"

#include <fstream>
#include <sstream>
#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "gtest/gtest.h"
#include "rpc/settings/config_file.h"
#include "rpc/settings/settings.h"

namespace farcall {
namespace {

TEST(SettingsTableTest, TheDocumentHasIt) {
  std::ifstream file("docs/settings.md");
  std::ostringstream page;
  page << file.rdbuf();
  EXPECT_TRUE(absl::StrContains(page.str(), SettingsMarkdown()))
      << "docs/settings.md wants this table:\n"
      << SettingsMarkdown();
}

TEST(SettingsTableTest, TheTemplateSetsNothing) {
  const auto settings = ParseConfig(SettingsTemplate(), "template");
  ASSERT_TRUE(settings.ok()) << settings.status();
  EXPECT_TRUE(settings->empty());
}

// Each value's line without its "# ", as one does who changes it.
TEST(SettingsTableTest, TheTemplatesValuesAreGoodOnes) {
  std::string text;
  bool value = false;
  for (const absl::string_view line : absl::StrSplit(SettingsTemplate(), '\n')) {
    const bool remark = absl::StrContains(line, "# ");
    if (remark && value) text += absl::StrReplaceAll(line, {{"# ", ""}}) + "\n";
    if (!remark) text += std::string(line) + "\n";
    value = remark && !value && !absl::StartsWith(line, "# A name") &&
            !absl::StartsWith(line, "# Settings");
  }
  const auto settings = ParseConfig(text, "template");
  ASSERT_TRUE(settings.ok()) << settings.status() << "\n" << text;
  EXPECT_GT(settings->size(), 40u);
  RuntimeOptions options;
  const auto all = Apply(*settings, &options);
  EXPECT_TRUE(all.ok()) << all.status();
  if (!all.ok()) return;
  EXPECT_EQ(all->size(), settings->size()) << "all are in it";
}

}  // namespace
}  // namespace farcall
