// SPDX-License-Identifier: Apache-2.0
//
// Files of a node, below a root: each read bounded, and nothing fails. Of sysfs a read calls the
// driver, under locks of the kernel: where a driver hangs, so does the reader, for ever. Who must
// not hang with it looks on from another thread.

#ifndef FARCALL_TOOLS_NODE_SYS_FILES_H_
#define FARCALL_TOOLS_NODE_SYS_FILES_H_

#include <sys/types.h>

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/types/optional.h"

namespace farcall::node {

// Paths are relative to the root: "sys/class/infiniband". Links within the root that are absolute
// would lead out of it; sysfs and configfs have only relative ones.
class SysFiles {
 public:
  static constexpr size_t kMaxFileBytes = 64 * 1024;
  static constexpr size_t kMaxEntries = 4096;  // of a directory

  explicit SysFiles(std::string root) : root_(std::move(root)) {}

  // Without white space at both ends; cut at kMaxFileBytes. Not there, not readable, or the kernel
  // has no value (many attributes answer EINVAL): nothing.
  absl::optional<std::string> Read(absl::string_view path) const;
  // Sorted by name; without "." and "..".
  std::vector<std::string> List(absl::string_view path) const;
  // The last name of where a symbolic link leads: "0000:17:00.0".
  absl::optional<std::string> LinkName(absl::string_view path) const;
  bool Exists(absl::string_view path) const;

  struct Node {
    unsigned mode;
    uid_t uid;
    gid_t gid;
    bool may_open;
  };
  absl::optional<Node> Stat(absl::string_view path) const;

 private:
  std::string Full(absl::string_view path) const;

  std::string root_;
};

}  // namespace farcall::node

#endif  // FARCALL_TOOLS_NODE_SYS_FILES_H_
