// SPDX-License-Identifier: Apache-2.0

#include "transport/base/host/cpu_quota.h"

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"

namespace farcall {
namespace {

constexpr int kMaxCores = 1 << 20;

bool HasItem(absl::string_view list, absl::string_view item) {
  for (const absl::string_view one : absl::StrSplit(list, ',')) {
    if (one == item) return true;
  }
  return false;
}

// cgroups(7): where this process is in the hierarchy of version 2, and in that of the controller
// "cpu" of version 1. "": it is in none.
struct Place {
  std::string in_v2;
  std::string in_v1;
};

// Lines such as "0::/user.slice" and "4:cpu,cpuacct:/docker/1234".
Place PlaceOf(absl::string_view self_cgroup) {
  Place place;
  for (const absl::string_view line : absl::StrSplit(self_cgroup, '\n')) {
    const std::vector<absl::string_view> parts = absl::StrSplit(line, absl::MaxSplits(':', 2));
    if (parts.size() != 3) continue;
    if (parts[0] == "0" && parts[1].empty()) place.in_v2 = std::string(parts[2]);
    if (HasItem(parts[1], "cpu")) place.in_v1 = std::string(parts[2]);
  }
  return place;
}

// A hierarchy that is mounted where this process can see it.
struct Mount {
  bool v2 = false;
  std::string root;   // the cgroup that is at
  std::string point;  // this directory
};

// proc(5), mountinfo: "ID PARENT DEVICE ROOT POINT OPTIONS [FIELDS] - TYPE SOURCE OPTIONS".
std::vector<Mount> MountsOf(absl::string_view mountinfo) {
  std::vector<Mount> mounts;
  for (const absl::string_view line : absl::StrSplit(mountinfo, '\n')) {
    const std::pair<absl::string_view, absl::string_view> halves =
        absl::StrSplit(line, absl::MaxSplits(" - ", 1));
    const std::vector<absl::string_view> first = absl::StrSplit(halves.first, ' ');
    const std::vector<absl::string_view> second = absl::StrSplit(halves.second, ' ');
    if (first.size() < 5 || second.size() < 3) continue;
    const bool v2 = second[0] == "cgroup2";
    if (!v2 && (second[0] != "cgroup" || !HasItem(second[2], "cpu"))) continue;
    mounts.push_back({v2, std::string(first[3]), std::string(first[4])});
  }
  return mounts;
}

// The way from a mount's root down to `cgroup`, "/a/b"; "" where that is the root, or is not below
// it: what can be seen then is the best that is known.
absl::string_view Below(absl::string_view root, absl::string_view cgroup) {
  root = absl::StripSuffix(root, "/");
  if (!absl::ConsumePrefix(&cgroup, root)) return "";
  cgroup = absl::StripSuffix(cgroup, "/");
  return absl::StartsWith(cgroup, "/") && !absl::StartsWith(cgroup, "/..") ? cgroup : "";
}

std::optional<int> CoresOf(absl::string_view quota_us, absl::string_view period_us) {
  int64_t quota = 0;
  int64_t period = 0;
  // "max", and -1, are no limit.
  if (!absl::SimpleAtoi(quota_us, &quota) || !absl::SimpleAtoi(period_us, &period)) return {};
  if (quota <= 0 || period <= 0) return {};
  const int64_t whole = quota / period + (quota % period == 0 ? 0 : 1);
  return static_cast<int>(std::min<int64_t>(whole, kMaxCores));
}

std::optional<int> CoresAt(const std::string& directory, bool v2, FileReader read) {
  if (!v2) {
    return CoresOf(read(directory + "/cpu.cfs_quota_us"), read(directory + "/cpu.cfs_period_us"));
  }
  const std::string both = read(directory + "/cpu.max");
  const std::pair<absl::string_view, absl::string_view> parts =
      absl::StrSplit(both, absl::MaxSplits(' ', 1));
  return CoresOf(parts.first, parts.second);
}

}  // namespace

std::optional<int> CoresByQuota(FileReader read) {
  const Place place = PlaceOf(read("/proc/self/cgroup"));
  std::optional<int> least;
  for (const Mount& mount : MountsOf(read("/proc/self/mountinfo"))) {
    const std::string& cgroup = mount.v2 ? place.in_v2 : place.in_v1;
    if (cgroup.empty()) continue;
    std::string below(Below(mount.root, cgroup));
    while (true) {
      const std::optional<int> cores = CoresAt(mount.point + below, mount.v2, read);
      if (cores) least = std::min(*cores, least.value_or(*cores));
      if (below.empty()) break;
      below.resize(below.rfind('/'));
    }
  }
  return least;
}

}  // namespace farcall
