// SPDX-License-Identifier: Apache-2.0

#include "tools/node/sys_files.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <memory>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "transport/base/unique_fd.h"

namespace farcall::node {
namespace {

struct CloseDirectory {
  void operator()(DIR* directory) const { closedir(directory); }
};

}  // namespace

absl::optional<std::string> SysFiles::Read(absl::string_view path) const {
  // A fifo in a tree that is not sysfs must not hold up the reader.
  const UniqueFd fd(open(Full(path).c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!fd.valid()) return absl::nullopt;
  std::string text;
  char page[4096];  // as much as an attribute of sysfs has
  while (text.size() < kMaxFileBytes) {
    const ssize_t got = read(fd.get(), page, std::min(sizeof page, kMaxFileBytes - text.size()));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return absl::nullopt;
    if (got == 0) break;
    text.append(page, static_cast<size_t>(got));
  }
  return std::string(absl::StripAsciiWhitespace(text));
}

std::vector<std::string> SysFiles::List(absl::string_view path) const {
  std::vector<std::string> names;
  const std::unique_ptr<DIR, CloseDirectory> directory(opendir(Full(path).c_str()));
  if (directory == nullptr) return names;
  while (const dirent* const entry = readdir(directory.get())) {
    const absl::string_view name = entry->d_name;
    if (name == "." || name == "..") continue;
    if (names.size() == kMaxEntries) break;
    names.emplace_back(name);
  }
  std::sort(names.begin(), names.end());
  return names;
}

absl::optional<std::string> SysFiles::LinkName(absl::string_view path) const {
  char target[PATH_MAX];
  const ssize_t size = readlink(Full(path).c_str(), target, sizeof target);
  if (size <= 0) return absl::nullopt;
  absl::string_view name(target, static_cast<size_t>(size));
  name.remove_prefix(name.rfind('/') + 1);  // npos + 1 is 0
  return std::string(name);
}

bool SysFiles::Exists(absl::string_view path) const {
  return access(Full(path).c_str(), F_OK) == 0;
}

absl::optional<SysFiles::Node> SysFiles::Stat(absl::string_view path) const {
  struct stat found;
  const std::string full = Full(path);
  if (stat(full.c_str(), &found) != 0) return absl::nullopt;
  return Node{found.st_mode & 07777u, found.st_uid, found.st_gid,
              access(full.c_str(), R_OK | W_OK) == 0};
}

std::string SysFiles::Full(absl::string_view path) const { return absl::StrCat(root_, "/", path); }

}  // namespace farcall::node
