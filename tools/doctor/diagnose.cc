// SPDX-License-Identifier: Apache-2.0

#include "tools/doctor/diagnose.h"

#include <algorithm>
#include <iterator>
#include <set>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "tools/doctor/checks/checks.h"
#include "tools/doctor/checks/interfaces.h"

namespace farcall::doctor {
namespace {

constexpr size_t kMaxNext = 3;

void Append(const Findings& more, Findings& all) {
  all.insert(all.end(), more.begin(), more.end());
}

bool Contains(const std::vector<std::string>& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

const VerbsDevice* Opened(const Facts& facts, const std::string& name) {
  for (const VerbsDevice& device : facts.devices) {
    if (device.name == name) return &device;
  }
  return nullptr;
}

bool HasFile(const Facts& facts, const std::string& device) {
  const auto name = facts.files.uverbs_of.find(device);
  if (name == facts.files.uverbs_of.end()) return true;  // not told
  return std::any_of(facts.files.uverbs.begin(), facts.files.uverbs.end(), [&](const auto& file) {
    return file.path == "/dev/infiniband/" + name->second;
  });
}

// A virtual function on the host of its physical one, where it waits for a pod or a machine.
bool IsSpareFunction(const Facts& facts, const node::Device& device) {
  const auto& netdevs = facts.now.netdevs();
  return node::IsVirtualFunction(device) &&
         std::any_of(netdevs.begin(), netdevs.end(), [&](const node::Netdev& netdev) {
           return netdev.pci().address() == device.pci().physfn();
         });
}

// In a pod all devices of the host may be seen, of which one was given to it. One with an interface
// here is this process's, though it may have lost its address.
bool IsForeign(const Facts& facts, const node::Device& device,
               const std::vector<std::string>& usable) {
  if (usable.empty() || Contains(usable, device.name())) return false;
  if (!HasFile(facts, device.name())) return true;
  if (!node::HasActivePort(device)) return false;
  return !HasInterface(facts.now, device) || IsSpareFunction(facts, device);
}

// Files of /sys/class/infiniband_verbs are the same in all network namespaces, the devices that
// they name are not. Where no device is to be seen, those files tell what the host has.
DeviceFileFacts FilesOfDevicesHere(const Facts& facts) {
  DeviceFileFacts files = facts.files;
  if (facts.now.devices().empty() && facts.now.rdma_netns_mode() != "exclusive") return files;
  std::erase_if(files.uverbs_of, [&](const auto& each) {
    return node::FindDevice(facts.now, each.first) == nullptr;
  });
  return files;
}

Findings OfHost(const Facts& facts, const std::vector<std::string>& usable) {
  // What the library does not take is why it does not start.
  Findings all = CheckSettings(facts.settings);
  if (!facts.verdict.reason.empty()) all.push_back(CheckLibraryVerdict(facts.verdict));
  Append(CheckLibraries(facts.library, facts.devices.size()), all);
  Append(CheckDevices(facts.now), all);
  Append(CheckDeviceFiles(FilesOfDevicesHere(facts)), all);
  all.push_back(CheckConnectionManager(facts.files));
  all.push_back(CheckNamespace(facts.now, facts.own));
  const MemoryNeed need = NeedOf(RdmaOptions{}, BlockPoolOptions{}, facts.loops);
  all.push_back(CheckMemlock(facts.memory, need, usable.size()));
  all.push_back(CheckHugePages(facts.now, facts.huge_pages));
  all.push_back(CheckFork(facts.fork));
  Append(CheckLoopPlaces(facts.now, usable, facts.loops, facts.settings), all);
  return all;
}

Findings OfDevice(const Facts& facts, const node::Device& device) {
  Findings all;
  const VerbsDevice* const opened = Opened(facts, device.name());
  const std::string driver = device.software().empty() ? device.pci().driver() : device.software();
  all.push_back(CheckProvider(facts.library, device.name(), driver, opened != nullptr));
  Append(CheckPorts(facts.now, device, opened, facts.own), all);
  all.push_back(CheckGids(facts.now, device, facts.own));
  Append(CheckPci(device), all);
  Append(CheckNuma(facts.now, device), all);
  if (opened != nullptr) {
    const bool no_pci_settings = !device.software().empty() || node::IsVirtualFunction(device);
    all.push_back(CheckCapabilities(*opened, no_pci_settings));
  }
  Append(CheckCongestion(facts.now, device, facts.settings.traffic_class, facts.own, facts.queues),
         all);
  const node::Device* const before = node::FindDevice(facts.before, device.name());
  if (before != nullptr) Append(CheckCounters(*before, device, facts.seconds), all);
  for (const LoopbackFacts& loopback : facts.loopbacks) {
    if (loopback.device == device.name()) all.push_back(CheckLoopback(loopback));
  }
  return all;
}

// Not even one of the devices is without a failure, or the host as a whole has one.
bool Fails(const Findings& findings) {
  std::set<std::string> devices;
  std::set<std::string> failed;
  for (const Finding& finding : findings) {
    if (finding.verdict == Verdict::kFailed && finding.subject.empty()) return true;
    // Peers, and what is passed over, are no devices of this process.
    if (finding.subject.empty() || finding.check == "peer" || finding.check == "device") continue;
    devices.insert(finding.subject);
    if (finding.verdict == Verdict::kFailed) failed.insert(finding.subject);
  }
  return !devices.empty() && devices == failed;
}

size_t Count(const Findings& findings, Verdict verdict) {
  return static_cast<size_t>(std::count_if(
      findings.begin(), findings.end(), [&](const auto& each) { return each.verdict == verdict; }));
}

// The first of its loopbacks, where there are some and none went over RDMA.
const Finding* NoLoopback(const Findings& findings) {
  const Finding* first = nullptr;
  for (const Finding& finding : findings) {
    if (finding.check != "loopback") continue;
    if (finding.verdict == Verdict::kOk) return nullptr;
    if (first == nullptr) first = &finding;
  }
  return first;
}

// The nearest cause is told by the files; the library's own word names the page to read, unless it
// is all there is.
bool IsBehindAnother(const Report& report, const Finding& finding) {
  return finding.check == "farcall" && report.verdict.reason != LibraryVerdict::kNotTold;
}

// `first`: may be null.
std::vector<std::string> NextOf(const Report& report, const Finding* first) {
  std::vector<std::string> next;
  const auto add = [&](const std::string& cure) {
    if (next.size() < kMaxNext && !cure.empty() && !Contains(next, cure)) next.push_back(cure);
  };
  if (first != nullptr) add(first->cure);
  for (const Verdict verdict : {Verdict::kFailed, Verdict::kDegraded}) {
    for (const Finding& finding : report.findings) {
      if (finding.verdict == verdict && !IsBehindAnother(report, finding)) add(finding.cure);
    }
  }
  return next;
}

void Conclude(Report& report) {
  const size_t failed = Count(report.findings, Verdict::kFailed);
  const size_t degraded = Count(report.findings, Verdict::kDegraded);
  const bool refused = !report.verdict.reason.empty() && report.verdict.reason != "in_use";
  report.next = NextOf(report, nullptr);
  if (refused || Fails(report.findings)) {
    report.code = kNoRdma;
    report.summary = "no RDMA";
    if (refused) absl::StrAppend(&report.summary, " (", report.verdict.reason, ")");
    for (const Finding& finding : report.findings) {
      if (finding.verdict != Verdict::kFailed || IsBehindAnother(report, finding)) continue;
      absl::StrAppend(&report.summary, ": ", finding.check,
                      finding.subject.empty() ? "" : " of " + finding.subject, ": ",
                      finding.finding);
      break;
    }
    return;
  }
  if (const Finding* const loopback = NoLoopback(report.findings)) {
    report.code = kDegraded;
    report.next = NextOf(report, loopback);
    report.summary =
        "degraded: the library would use RDMA, and no call of this process to itself went over it";
    return;
  }
  if (failed + degraded > 0) {
    report.code = kDegraded;
    report.summary =
        absl::StrCat("degraded: RDMA can be used; ", failed + degraded, " findings to look at");
    return;
  }
  report.code = kReady;
  report.summary = "ready: RDMA can be used";
}

// `only`: the names of those that count; empty: all.
std::vector<std::string> Usable(const Facts& facts, const std::vector<std::string>& only) {
  std::vector<std::string> usable;
  std::vector<std::string> over_tcp;
  for (const node::Device& device : facts.now.devices()) {
    if (!only.empty() && !Contains(only, device.name())) continue;
    if (!node::HasActivePort(device) || !HasFile(facts, device.name())) continue;
    if (HasAddressHere(facts.now, device, facts.own)) {
      usable.push_back(device.name());
    } else if (CheckGids(facts.now, device, facts.own).verdict != Verdict::kFailed) {
      over_tcp.push_back(device.name());
    }
  }
  // Where some have an address here, the others are those of other namespaces.
  return usable.empty() ? over_tcp : usable;
}

}  // namespace

std::vector<std::string> UsableHere(const Facts& facts) {
  return Usable(facts, facts.settings.devices);
}

Report Diagnose(const Facts& facts) {
  Report report;
  report.verdict = facts.verdict;
  report.findings = OfHost(facts, UsableHere(facts));
  // What settings leave out may be of this host all the same.
  const std::vector<std::string> usable = Usable(facts, {});
  for (const node::Device& device : facts.now.devices()) {
    const std::vector<GidRow> rows = JudgeGids(facts.now, device, facts.own);
    report.gids.insert(report.gids.end(), rows.begin(), rows.end());
    if (!IsForeign(facts, device, usable)) {
      Append(OfDevice(facts, device), report.findings);
      continue;
    }
    // What the host's files say of it is no concern of this process.
    std::erase_if(report.findings,
                  [&](const Finding& finding) { return finding.subject == device.name(); });
    report.findings.push_back(Ok("device", device.name(),
                                 "passed over: it has no address or no file here",
                                 "it belongs to other network namespaces or containers"));
  }
  Conclude(report);
  return report;
}

void AddFindings(const Findings& more, Report& report) {
  Append(more, report.findings);
  Conclude(report);
}

}  // namespace farcall::doctor
