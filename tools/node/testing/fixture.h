// SPDX-License-Identifier: Apache-2.0
//
// Directories that look like the root of a node: its /sys, /proc and /dev, as far as tools/node
// reads them. The fixtures are written from the kernel's Documentation/ABI (sysfs-class-infiniband,
// sysfs-class-net, sysfs-bus-pci) and from public listings of such machines.

#ifndef FARCALL_TOOLS_NODE_TESTING_FIXTURE_H_
#define FARCALL_TOOLS_NODE_TESTING_FIXTURE_H_

#include <string>

#include "absl/strings/string_view.h"

namespace farcall::node {

// The nodes of tools/node/testing/fixtures. Of each, fixtures/NAME.txt says what it is.
inline constexpr const char* kFixtures[] = {
    "cx7_infiniband", "cx7_roce", "bond", "sriov",          "no_rdma",   "mixed_fabric",
    "iwarp",          "rxe",      "siw",  "cx7_roce_other", "cx7_eight",
};

// A directory below TEST_TMPDIR or /tmp, removed with all that is in it. Its text has lines
//   [DIRECTORY]         what follows lies below it; "[]": the root again
//   PATH = VALUE        a file with VALUE and a line end; \n in VALUE is a line end
//   PATH -> TARGET      a symbolic link, relative as in sysfs
//   PATH/               a directory
//   # COMMENT
// A later line replaces a file of an earlier one. What is wrong with the text ends the test.
class FixtureTree {
 public:
  // `name`: of kFixtures.
  static FixtureTree Named(absl::string_view name);
  explicit FixtureTree(absl::string_view text);
  FixtureTree(FixtureTree&& other) noexcept;
  FixtureTree(const FixtureTree&) = delete;
  FixtureTree& operator=(const FixtureTree&) = delete;
  ~FixtureTree();

  const std::string& root() const { return root_; }
  // More lines, over those that are there.
  void Apply(absl::string_view text) const;
  void Remove(absl::string_view path) const;

 private:
  std::string root_;
};

}  // namespace farcall::node

#endif  // FARCALL_TOOLS_NODE_TESTING_FIXTURE_H_
