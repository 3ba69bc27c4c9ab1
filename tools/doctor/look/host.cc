// SPDX-License-Identifier: Apache-2.0

#include "tools/doctor/look/host.h"

#include <linux/capability.h>
#include <sys/resource.h>

#include <algorithm>
#include <fstream>
#include <iterator>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "rpc/runtime_options.h"
#include "rpc/settings/settings.h"
#include "tools/doctor/checks/gids.h"
#include "transport/base/host/cores.h"
#include "transport/rdma/device/local_addresses.h"

namespace farcall::doctor {
namespace {

constexpr size_t kMaxBytes = 64 << 10;

std::string ReadFile(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::string text;
  for (char c; text.size() < kMaxBytes && file.get(c);) text += c;
  return text;
}

uint64_t Limit(rlim_t limit) { return limit == RLIM_INFINITY ? MemoryFacts::kNoLimit : limit; }

// The line "NAME:   VALUE" of /proc/self/status.
std::string StatusLine(const std::string& status, absl::string_view name) {
  for (absl::string_view line : absl::StrSplit(status, '\n')) {
    if (absl::ConsumePrefix(&line, name)) {
      return std::string(absl::StripAsciiWhitespace(line));
    }
  }
  return "";
}

uint32_t Word(absl::string_view bytes, size_t at) {
  return static_cast<unsigned char>(bytes[at]) | uint32_t{static_cast<unsigned char>(bytes[at + 1])}
                                                     << 8;
}

}  // namespace

MemoryFacts ReadMemoryFacts(const std::string& root) {
  MemoryFacts facts;
  rlimit limit{};
  if (getrlimit(RLIMIT_MEMLOCK, &limit) == 0) {
    facts.soft_limit = Limit(limit.rlim_cur);
    facts.hard_limit = Limit(limit.rlim_max);
  }
  uint64_t capabilities = 0;
  const std::string status = ReadFile(root + "/proc/self/status");
  if (absl::SimpleHexAtoi(StatusLine(status, "CapEff:"), &capabilities)) {
    facts.may_lock = (capabilities >> CAP_IPC_LOCK & 1) != 0;
  }
  // user_namespaces(7): the first one maps all numbers to themselves.
  const std::vector<std::string> map = absl::StrSplit(ReadFile(root + "/proc/self/uid_map"),
                                                      absl::ByAnyChar(" \n"), absl::SkipEmpty());
  facts.first_user_namespace = map == std::vector<std::string>{"0", "0", "4294967295"};
  return facts;
}

HugePageFacts ReadHugePageFacts(const std::string& root) {
  HugePageFacts facts;
  // "always [madvise] never"
  const std::string modes = ReadFile(root + "/sys/kernel/mm/transparent_hugepage/enabled");
  const size_t open = modes.find('[');
  const size_t close = modes.find(']');
  if (open != std::string::npos && close != std::string::npos && open < close) {
    facts.transparent = modes.substr(open + 1, close - open - 1);
  }
  // Of the cgroup, as a container sees it; "max": no limit.
  uint64_t bytes = 0;
  for (const char* path :
       {"/sys/fs/cgroup/hugetlb.2MB.max", "/sys/fs/cgroup/hugetlb/hugetlb.2MB.limit_in_bytes"}) {
    if (absl::SimpleAtoi(ReadFile(root + path), &bytes)) {
      facts.cgroup_bytes = bytes;
      break;
    }
  }
  return facts;
}

int DefaultLoops() {
  // As the library does without RuntimeOptions::event_loops.
  return std::min(8, UsableCores());
}

std::vector<OwnAddress> ReadOwnAddresses() {
  std::vector<OwnAddress> own;
  const auto addresses = LocalAddresses();
  for (const LocalIp& local : addresses.value_or(std::vector<LocalIp>())) {
    if (ReachableByPeers(local.address)) own.push_back({IpText(local.address), local.interface});
  }
  return own;
}

SettingsFacts ReadSettings() {
  SettingsFacts facts;
  RuntimeOptions options;
  const auto all = ApplyOperatorSettings(&options);
  if (!all.ok()) {
    facts.error = std::string(all.status().message());
    return facts;
  }
  facts.cpus = options.cpus;
  facts.near_adapters = options.near_adapters;
  facts.network_status = options.rdma.network_status;
  facts.devices = options.rdma.devices;
  for (const OptionStatus& one : *all) {
    if (one.name == "traffic_class" && one.from != "default") {
      facts.traffic_class = static_cast<uint32_t>(options.traffic_class);
    }
  }
  return facts;
}

// PCI Local Bus 3.0, 6.7 (the list of capabilities), and PCI Express Base, 7.5.3.4.
std::optional<bool> RelaxedOrderingOf(absl::string_view config_space) {
  constexpr size_t kFirst = 0x34;
  constexpr unsigned char kExpress = 0x10;
  constexpr size_t kDeviceControl = 8;
  constexpr uint32_t kEnable = 1 << 4;
  if (config_space.size() <= kFirst) return std::nullopt;
  auto at = static_cast<unsigned char>(config_space[kFirst]);
  for (int steps = 0; steps < 48 && at >= 0x40; ++steps) {
    if (at + kDeviceControl + 2 > config_space.size()) return std::nullopt;
    if (static_cast<unsigned char>(config_space[at]) == kExpress) {
      return (Word(config_space, at + kDeviceControl) & kEnable) != 0;
    }
    at = static_cast<unsigned char>(config_space[at + 1u]);
  }
  return std::nullopt;
}

std::optional<bool> ReadRelaxedOrdering(const std::string& device, const std::string& root) {
  return RelaxedOrderingOf(ReadFile(root + "/sys/class/infiniband/" + device + "/device/config"));
}

}  // namespace farcall::doctor
