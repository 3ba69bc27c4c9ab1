// SPDX-License-Identifier: Apache-2.0

#include "tools/node/inventory.h"

#include <algorithm>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "tools/node/parse.h"
#include "tools/node/readers.h"
#include "tools/node/sys_files.h"
#include "transport/base/host/numa_node.h"

namespace farcall::node {
namespace {

void ReadKernel(const SysFiles& files, Inventory& inventory) {
  if (const auto name = files.Read("proc/sys/kernel/hostname")) inventory.set_hostname(*name);
  if (const auto release = files.Read("proc/sys/kernel/osrelease")) inventory.set_kernel(*release);
  const auto mode = files.Read("sys/module/ib_core/parameters/netns_mode");
  if (const auto parsed = ParseNetnsMode(mode.value_or(""))) {
    inventory.set_rdma_netns_mode(*parsed);
  }
  for (const char* const module : kModules) {
    if (files.Exists(absl::StrCat("sys/module/", module))) inventory.add_modules(module);
  }
}

void ReadDeviceNodes(const SysFiles& files, Inventory& inventory) {
  for (const std::string& name : files.List("dev/infiniband")) {
    const auto found = files.Stat(absl::StrCat("dev/infiniband/", name));
    // by-ibdev and by-path are directories of links to the others.
    if (!found || absl::StartsWith(name, "by-")) continue;
    DeviceNode& node = *inventory.add_device_nodes();
    node.set_name(name);
    node.set_mode(found->mode);
    node.set_uid(found->uid);
    node.set_gid(found->gid);
    node.set_may_open(found->may_open);
  }
}

void ReadHugePages(const SysFiles& files, Inventory& inventory) {
  const std::string path = "sys/kernel/mm/hugepages";
  std::vector<std::string> names = files.List(path);
  std::sort(names.begin(), names.end(), NaturalLess);
  for (const std::string& name : names) {
    absl::string_view size = name;
    uint64_t kib = 0;
    if (!absl::ConsumePrefix(&size, "hugepages-") || !absl::ConsumeSuffix(&size, "kB")) continue;
    if (!absl::SimpleAtoi(size, &kib)) continue;
    HugePages& pages = *inventory.add_huge_pages();
    pages.set_page_bytes(kib * 1024);
    const auto count = [&](absl::string_view file) {
      return ParseNumber(files.Read(absl::StrCat(path, "/", name, "/", file)).value_or(""));
    };
    if (const auto total = count("nr_hugepages")) pages.set_total(*total);
    if (const auto free = count("free_hugepages")) pages.set_free(*free);
  }
}

void ReadNuma(const SysFiles& files, Inventory& inventory) {
  const auto allowed = AllowedCpus(files.Read("proc/self/status").value_or(""));
  if (allowed) inventory.set_allowed_cpus(*allowed);
  const std::vector<int> cpus = ParseCpuList(allowed.value_or(""));
  std::vector<std::string> names = files.List("sys/devices/system/node");
  std::sort(names.begin(), names.end(), NaturalLess);
  for (const std::string& name : names) {
    absl::string_view digits = name;
    int32_t number = 0;
    if (!absl::ConsumePrefix(&digits, "node") || !absl::SimpleAtoi(digits, &number)) continue;
    NumaNode& node = *inventory.add_numa_nodes();
    node.set_number(number);
    const auto list = files.Read(absl::StrCat("sys/devices/system/node/", name, "/cpulist"));
    if (!list) continue;
    node.set_cpus(*list);
    const std::vector<int> here = ParseCpuList(*list);
    if (std::find_first_of(cpus.begin(), cpus.end(), here.begin(), here.end()) != cpus.end()) {
      inventory.add_allowed_numa_nodes(number);
    }
  }
}

}  // namespace

Inventory ReadInventory(const std::string& root, const ReadOptions& options) {
  const SysFiles files(root);
  Inventory inventory;
  ReadKernel(files, inventory);
  ReadDeviceNodes(files, inventory);
  ReadHugePages(files, inventory);
  ReadNuma(files, inventory);
  std::vector<std::string> names = files.List("sys/class/infiniband");
  if (names.size() > kMaxDevices) {
    inventory.add_cut(absl::StrCat("/sys/class/infiniband: ", kMaxDevices, " of ", names.size()));
    names.resize(kMaxDevices);
  }
  std::sort(names.begin(), names.end(), NaturalLess);
  for (const std::string& name : names) ReadDevice(files, name, options.counters, inventory);
  ReadNetdevs(files, inventory);
  return inventory;
}

}  // namespace farcall::node
