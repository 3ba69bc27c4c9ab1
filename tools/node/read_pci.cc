// SPDX-License-Identifier: Apache-2.0

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "tools/node/parse.h"
#include "tools/node/readers.h"

namespace farcall::node {
namespace {

void ReadIds(const SysFiles& files, const std::string& path, Pci& pci) {
  const auto hex = [&](absl::string_view file, size_t digits) {
    return ParseHex(files.Read(absl::StrCat(path, "/", file)).value_or(""), digits);
  };
  if (const auto id = hex("class", 6)) pci.set_pci_class(*id);
  if (const auto id = hex("vendor", 4)) pci.set_vendor(*id);
  if (const auto id = hex("device", 4)) pci.set_device(*id);
  if (const auto id = hex("subsystem_vendor", 4)) pci.set_subsystem_vendor(*id);
  if (const auto id = hex("subsystem_device", 4)) pci.set_subsystem_device(*id);
}

// Its number is that of the link "virtfnN" in the physical function's directory.
void ReadVirtual(const SysFiles& files, const std::string& path, Pci& pci) {
  const std::string physfn = absl::StrCat(path, "/physfn");
  const auto address = files.LinkName(physfn);
  if (!address) return;
  pci.set_physfn(*address);
  for (const std::string& entry : files.List(physfn)) {
    absl::string_view number = entry;
    uint32_t index = 0;
    if (!absl::ConsumePrefix(&number, "virtfn") || !absl::SimpleAtoi(number, &index)) continue;
    if (files.LinkName(absl::StrCat(physfn, "/", entry)) == pci.address()) pci.set_vf_index(index);
  }
}

void ReadPhysical(const SysFiles& files, const std::string& path, Pci& pci) {
  const auto count = [&](absl::string_view file) {
    return ParseNumber(files.Read(absl::StrCat(path, "/", file)).value_or(""));
  };
  if (const auto n = count("sriov_totalvfs")) pci.set_sriov_totalvfs(static_cast<uint32_t>(*n));
  if (const auto n = count("sriov_numvfs")) pci.set_sriov_numvfs(static_cast<uint32_t>(*n));
}

void ReadLink(const SysFiles& files, const std::string& path, Pci& pci) {
  const auto text = [&](absl::string_view file) {
    return files.Read(absl::StrCat(path, "/", file));
  };
  if (const auto speed = text("current_link_speed")) pci.set_link_speed(*speed);
  if (const auto width = text("current_link_width")) pci.set_link_width(*width);
  if (const auto speed = text("max_link_speed")) pci.set_max_link_speed(*speed);
  if (const auto width = text("max_link_width")) pci.set_max_link_width(*width);
}

}  // namespace

bool ReadPci(const SysFiles& files, const std::string& path, Pci& pci) {
  const auto address = files.LinkName(path);
  if (!address || !IsPciAddress(*address)) return false;
  pci.set_address(*address);
  ReadIds(files, path, pci);
  if (const auto driver = files.LinkName(absl::StrCat(path, "/driver"))) pci.set_driver(*driver);
  const std::string place = files.Read(absl::StrCat(path, "/numa_node")).value_or("");
  if (place == "-1") pci.set_no_numa_node(true);
  const auto node = ParseNumber(place);
  if (node && *node < 4096) pci.set_numa_node(static_cast<int32_t>(*node));
  ReadVirtual(files, path, pci);
  ReadPhysical(files, path, pci);
  ReadLink(files, path, pci);
  return true;
}

}  // namespace farcall::node
