// SPDX-License-Identifier: Apache-2.0

#include "rpc/settings/settings_table.h"

#include <algorithm>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "gtest/gtest.h"
#include "rpc/settings/config_file.h"
#include "rpc/settings/settings.h"
#include "transport/base/option_field.h"

namespace farcall {
namespace {

std::string Cell(absl::string_view text) { return absl::StrReplaceAll(text, {{"|", "\\|"}}); }

// All settings with their defaults, what they may be, and what they are for.
std::string SettingsMarkdown() {
  RuntimeOptions options;
  std::string text = "| name | default | may be | what it is |\n| --- | --- | --- | --- |\n";
  for (const OptionField& field : Fields(options)) {
    absl::StrAppend(&text, "| `", field.name, "` | ", Cell(Text(field)), " | ",
                    Cell(Expected(field)), " | ", Cell(field.meaning), " |\n");
  }
  return text;
}

TEST(SettingsTableTest, TheDocumentHasThem) {
  std::ifstream file("docs/settings.md");
  std::ostringstream page;
  page << file.rdbuf();
  EXPECT_TRUE(absl::StrContains(page.str(), SettingsMarkdown()))
      << "docs/settings.md wants this table:\n"
      << SettingsMarkdown();
}

// | what | `name`; `name` | default; default | beyond |
TEST(SettingsTableTest, TheLimitsAreItsDefaults) {
  RuntimeOptions options;
  const std::vector<OptionField> fields = Fields(options);
  std::ifstream file("docs/limits.md");
  int found = 0;
  for (std::string line; std::getline(file, line);) {
    const std::vector<std::string> cells = absl::StrSplit(line, '|');
    if (cells.size() < 6) continue;
    std::vector<std::string> values =
        absl::StrSplit(absl::StrReplaceAll(cells[3], {{",", ""}}), ';');
    size_t at = 0;
    for (absl::string_view name : absl::StrSplit(cells[2], ';')) {
      name = absl::StripAsciiWhitespace(name);
      if (!absl::ConsumePrefix(&name, "`") || !absl::ConsumeSuffix(&name, "`")) continue;
      const auto field = std::find_if(fields.begin(), fields.end(),
                                      [&](const OptionField& one) { return one.name == name; });
      const std::string value = at < values.size() ? values[at] : "";
      ++at;
      EXPECT_TRUE(field != fields.end() || !absl::StrContains(name, "link.")) << name;
      if (field == fields.end()) continue;
      ++found;
      EXPECT_TRUE(absl::StartsWith(absl::StripAsciiWhitespace(value), Text(*field)))
          << name << " is " << Text(*field) << ", not" << value;
    }
  }
  EXPECT_GE(found, 20);
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
