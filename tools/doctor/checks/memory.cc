// SPDX-License-Identifier: Apache-2.0

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "tools/doctor/checks/checks.h"

namespace farcall::doctor {
namespace {

constexpr const char* kMemlock = "memlock";
constexpr const char* kHugePages = "huge pages";
// MAP_HUGETLB of the pool asks for these.
constexpr uint64_t kHugePage = 2 << 20;
constexpr const char* kRaise =
    "LimitMEMLOCK=infinity for the service or the container runtime, ulimit -l unlimited in a "
    "shell, or CAP_IPC_LOCK (securityContext.capabilities.add: [IPC_LOCK], in a pod with "
    "runAsUser: 0; for another user what is added stays without effect)";

std::string LimitText(const MemoryFacts& facts) {
  if (!facts.soft_limit.has_value()) return "RLIMIT_MEMLOCK is not readable";
  if (*facts.soft_limit == MemoryFacts::kNoLimit) return "RLIMIT_MEMLOCK is unlimited";
  std::string text = absl::StrCat("RLIMIT_MEMLOCK is ", BytesText(*facts.soft_limit));
  if (facts.hard_limit.has_value() && facts.hard_limit != facts.soft_limit) {
    absl::StrAppend(&text, " (hard limit ",
                    *facts.hard_limit == MemoryFacts::kNoLimit ? std::string("unlimited")
                                                               : BytesText(*facts.hard_limit),
                    ")");
  }
  return text;
}

}  // namespace

std::string BytesText(uint64_t bytes) {
  constexpr const char* kUnits[] = {"bytes", "KiB", "MiB", "GiB", "TiB"};
  size_t unit = 0;
  while (unit + 1 < std::size(kUnits) && bytes >= 1024 && bytes % 1024 == 0) {
    bytes /= 1024;
    ++unit;
  }
  return absl::StrCat(bytes, " ", kUnits[unit]);
}

MemoryNeed NeedOf(const RdmaOptions& rdma, const BlockPoolOptions& pool, int loops) {
  const uint64_t most = pool.max_bytes;
  const auto with = [&](int count) {
    const uint64_t receives = uint64_t{rdma.shared_receives} * kReceiveBlock * uint64_t(count);
    const uint64_t region = pool.region_bytes;
    // The receives, and a region for each of the two other classes of blocks.
    const uint64_t regions = (receives + region - 1) / region + 2;
    return std::min<uint64_t>(regions * region, most);
  };
  return {with(1), with(loops), most};
}

Finding CheckMemlock(const MemoryFacts& facts, const MemoryNeed& need, size_t devices) {
  const uint64_t count = std::max<uint64_t>(devices, 1);
  const uint64_t least = need.least * count;
  const uint64_t most = need.most * count;
  const std::string limit = LimitText(facts);
  const std::string needed =
      absl::StrCat("; by its defaults the library pins ", BytesText(need.first), " at first, ",
                   BytesText(least), " when all event loops have connections, and ",
                   BytesText(most), " at most, for ", count, count == 1 ? " device" : " devices");
  if (facts.may_lock && facts.first_user_namespace) {
    return Ok(kMemlock, "", absl::StrCat(limit, ", and CAP_IPC_LOCK passes over it"));
  }
  const std::string not_counted =
      facts.may_lock ? "; CAP_IPC_LOCK is held in a user namespace, where the kernel does not "
                       "count it for this"
                     : "";
  if (!facts.soft_limit.has_value()) {
    return Unknown(kMemlock, "", limit + needed);
  }
  if (*facts.soft_limit < need.first) {
    return Failed(
        kMemlock, "", absl::StrCat(limit, not_counted, needed),
        "the pool cannot be registered with the device: calls stay on TCP (reason memlock)",
        kRaise);
  }
  if (*facts.soft_limit < least) {
    return Degraded(
        kMemlock, "", absl::StrCat(limit, not_counted, needed),
        "some event loops or devices cannot register receives: their calls stay on TCP (reason "
        "memlock)",
        kRaise);
  }
  if (*facts.soft_limit < most) {
    return Degraded(
        kMemlock, "", absl::StrCat(limit, not_counted, needed),
        "RDMA works until the pool grows beyond the limit; what lies in further regions is "
        "copied",
        absl::StrCat(kRaise, "; or a smaller BlockPoolOptions::max_bytes"));
  }
  return Ok(kMemlock, "", limit + needed);
}

Finding CheckHugePages(const node::Inventory& inventory, const HugePageFacts& facts) {
  if (inventory.huge_pages().empty()) {
    return Unknown(kHugePages, "", "sysfs does not tell");
  }
  std::vector<std::string> sizes;
  uint64_t free = 0;
  for (const node::HugePages& size : inventory.huge_pages()) {
    if (size.page_bytes() == kHugePage) free = size.free();
    sizes.push_back(absl::StrCat(size.free(), " of ", size.total(), " pages of ",
                                 BytesText(size.page_bytes()), " are free"));
  }
  std::string text = absl::StrJoin(sizes, ", ");
  if (!facts.transparent.empty()) {
    absl::StrAppend(&text, "; transparent ones: ", facts.transparent);
  }
  const uint64_t region = BlockPoolOptions{}.region_bytes;
  if (free > 0 && facts.cgroup_bytes.has_value() && *facts.cgroup_bytes < region) {
    // The option is off by default.
    return Ok(kHugePages, "",
              absl::StrCat(text, "; this cgroup may have ", BytesText(*facts.cgroup_bytes)),
              "with BlockPoolOptions::huge_pages the kernel maps them and then kills the process "
              "with SIGBUS; without that option nothing is wrong",
              "request hugepages-2Mi in the pod, or leave huge_pages off");
  }
  return Ok(kHugePages, "", text,
            free == 0 ? "BlockPoolOptions::huge_pages would take ordinary pages" : "");
}

Finding CheckFork(ForkSafety safety) {
  constexpr const char* kCheck = "fork";
  switch (safety) {
    case ForkSafety::kUnneeded:
      return Ok(kCheck, "", "the kernel copies pinned pages for children");
    case ForkSafety::kEnabled:
      return Ok(kCheck, "", "ibv_fork_init keeps registered pages out of children",
                "each registration costs a system call more; a kernel of 5.12 or later needs none");
    case ForkSafety::kDisabled:
      return Degraded(kCheck, "", "libibverbs does not protect registered pages",
                      "after fork the device may write to the child's page instead of the parent's",
                      "register memory only after farcall has loaded, or RDMAV_FORK_SAFE=1");
    case ForkSafety::kUnknown:
      break;
  }
  return Unknown(kCheck, "", "libibverbs does not tell");
}

}  // namespace farcall::doctor
