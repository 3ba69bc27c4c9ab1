// SPDX-License-Identifier: Apache-2.0

#include "tools/node/testing/fixture.h"

#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "transport/base/check.h"

namespace farcall::node {
namespace {

namespace fs = std::filesystem;

// Most lines are about the directory of the line before.
class Directories {
 public:
  void Make(const fs::path& path) {
    if (path == last_) return;
    fs::create_directories(path);
    last_ = path;
  }

 private:
  fs::path last_;
};

void WriteFile(const fs::path& path, absl::string_view value) {
  std::ofstream file(path, std::ios::trunc);
  file << absl::StrReplaceAll(value, {{"\\n", "\n"}}) << "\n";
  Check(file.good(), "a fixture's file is written");
}

void MakeLink(const fs::path& path, absl::string_view target) {
  fs::remove(path);
  fs::create_symlink(std::string(target), path);
}

void ApplyLine(const fs::path& directory, absl::string_view line, Directories& directories) {
  // A value may have any text in it; the names never have spaces.
  const std::pair<absl::string_view, absl::string_view> name_and_rest =
      absl::StrSplit(line, absl::MaxSplits(' ', 1));
  const fs::path path = directory / std::string(name_and_rest.first);
  absl::string_view rest = name_and_rest.second;
  if (!rest.empty()) directories.Make(path.parent_path());
  if (absl::ConsumePrefix(&rest, "-> ")) {
    MakeLink(path, rest);
  } else if (rest == "=" || absl::ConsumePrefix(&rest, "= ")) {
    WriteFile(path, rest == "=" ? "" : rest);
  } else {
    Check(rest.empty() && line.back() == '/', "each line of a fixture is one of the forms");
    fs::create_directories(path);
  }
}

}  // namespace

FixtureTree FixtureTree::Named(absl::string_view name) {
  std::ifstream file(absl::StrCat("tools/node/testing/fixtures/", name, ".txt"));
  std::ostringstream text;
  text << file.rdbuf();
  Check(file.good() && !text.str().empty(), "the fixture is among the test's data");
  return FixtureTree(text.str());
}

FixtureTree::FixtureTree(absl::string_view text) {
  const char* const given = std::getenv("TEST_TMPDIR");
  root_ = absl::StrCat(given != nullptr ? given : "/tmp", "/farcall-node.XXXXXX");
  Check(mkdtemp(root_.data()) != nullptr, "a temporary directory is made");
  Apply(text);
}

FixtureTree::FixtureTree(FixtureTree&& other) noexcept : root_(std::move(other.root_)) {
  other.root_.clear();
}

FixtureTree::~FixtureTree() {
  std::error_code ignored;
  if (!root_.empty()) fs::remove_all(root_, ignored);
}

void FixtureTree::Apply(absl::string_view text) const {
  fs::path directory = root_;
  Directories directories;
  for (absl::string_view line : absl::StrSplit(text, '\n')) {
    line = absl::StripTrailingAsciiWhitespace(line);
    if (line.empty() || line[0] == '#') continue;
    if (line[0] == '[') {
      Check(line.back() == ']', "a directory of a fixture ends with ]");
      directory = fs::path(root_) / std::string(line.substr(1, line.size() - 2));
      directories.Make(directory);
      continue;
    }
    ApplyLine(directory, line, directories);
  }
}

void FixtureTree::Remove(absl::string_view path) const {
  fs::remove_all(fs::path(root_) / std::string(path));
}

}  // namespace farcall::node
