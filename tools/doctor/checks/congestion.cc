// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "tools/doctor/checks/checks.h"
#include "tools/doctor/checks/interfaces.h"
#include "tools/doctor/checks/queues.h"
#include "tools/doctor/checks/way.h"

namespace farcall::doctor {
namespace {

constexpr const char* kEcn = "ecn";
constexpr const char* kSettings = "settings";
constexpr const char* kTos = "traffic class";

using Priorities = google::protobuf::RepeatedField<uint32_t>;

std::string PrioritiesText(const Priorities& priorities) {
  return priorities.empty() ? "none" : absl::StrJoin(priorities, ",");
}

constexpr const char* kNoInterface = "the adapter's own interface is not to be seen here";

// " (of eth1 in bond0)"; "" where there is no bond.
std::string OfBond(const AdapterInterface& adapter) {
  return adapter.bond.empty()
             ? ""
             : absl::StrCat(" (of ", adapter.netdev->name(), " in ", adapter.bond, ")");
}

bool Has(const Priorities& priorities, uint32_t priority) {
  return std::find(priorities.begin(), priorities.end(), priority) != priorities.end();
}

// `priority`: of farcall's packets, where it is known.
Finding Ecn(const std::string& device, const AdapterInterface& adapter,
            std::optional<uint32_t> priority) {
  constexpr const char* kNotKnown =
      "whether this adapter slows down for marked packets is not known here";
  if (adapter.netdev == nullptr) {
    return Unknown(kEcn, device, kNoInterface, kNotKnown);
  }
  const node::Netdev& netdev = *adapter.netdev;
  const std::string where = absl::StrCat("/sys/class/net/", netdev.name(), "/ecn");
  const Priorities& notifies = netdev.ecn_np_priorities();
  const Priorities& reacts = netdev.ecn_rp_priorities();
  if (!netdev.ecn_files() && notifies.empty() && reacts.empty()) {
    return Unknown(kEcn, device, absl::StrCat(where, " is not here: not every driver has it"),
                   kNotKnown, "on the host: mlnx_qos, or the vendor's tool");
  }
  const std::string text = absl::StrCat("notifies for priorities ", PrioritiesText(notifies),
                                        ", reacts for ", PrioritiesText(reacts), OfBond(adapter));
  const bool off = notifies.empty() || reacts.empty();
  if (off || (priority.has_value() && !(Has(notifies, *priority) && Has(reacts, *priority)))) {
    const std::string of = absl::StrCat(priority.value_or(3));
    return Degraded(kEcn, device, absl::StrCat(text, off ? "" : "; farcall's is " + of),
                    "congestion ends in lost packets or pauses instead of slower senders",
                    absl::StrCat("echo 1 > ", where, "/roce_np/enable/", of,
                                 ", the same for roce_rp; and marks in the switches"));
  }
  if (priority.has_value()) return Ok(kEcn, device, text);
  return Unknown(kEcn, device, absl::StrCat(text, "; farcall's is not known"),
                 "whether senders slow down is told by priority");
}

// The type of service has the DSCP in its upper six bits.
std::string TosText(uint32_t tos) { return absl::StrCat(tos, " (DSCP ", tos / 4, ")"); }

Finding TrafficClass(const std::string& device, const node::Port& port,
                     std::optional<uint32_t> own) {
  const std::string text = absl::StrCat(
      "FARCALL_TRAFFIC_CLASS is ", own.has_value() ? TosText(*own) : "not set",
      "; rdma_cm's default is ",
      port.has_default_roce_tos() ? TosText(port.default_roce_tos()) : "not readable here",
      port.traffic_class().empty() ? "" : absl::StrCat("; the driver's: ", port.traffic_class()));
  const Mark mark = MarkOf(port, own);
  if (mark.tos.value_or(0) >= 4) return Ok(kTos, device, text);
  return {kTos,
          device,
          mark.tos.has_value() ? Verdict::kDegraded : Verdict::kUnknown,
          text,
          "without a mark switches treat RoCE as all other traffic",
          "FARCALL_TRAFFIC_CLASS or ChannelOptions::traffic_class (104 is DSCP 26), the same in "
          "adapter and switch"};
}

Dcb DcbOf(const node::Netdev& netdev, const std::map<std::string, Dcb>& all) {
  const auto found = all.find(netdev.name());
  if (found != all.end()) return found->second;
  Dcb none;
  none.error = "Data Center Bridging was not asked for";
  return none;
}

Findings OfPort(const node::Device& device, const node::Port& port,
                std::optional<uint32_t> traffic_class, const AdapterInterface& adapter,
                const Queues& queues) {
  const std::string& name = device.name();
  if (adapter.netdev == nullptr) {
    return {NoWay(name, kNoInterface), Ecn(name, adapter, std::nullopt)};
  }
  Way way = WayOf(*adapter.netdev, port, traffic_class, DcbOf(*adapter.netdev, queues.dcb));
  way.of_bond = OfBond(adapter);
  if (node::IsVirtualFunction(device) && !way.trouble.empty()) {
    absl::StrAppend(&way.trouble, ": a virtual function has the settings of its physical one");
  }
  Findings findings = {CheckWay(name, way), Ecn(name, adapter, way.priority)};
  const auto moved = queues.moved.find(adapter.netdev->name());
  if (moved != queues.moved.end()) {
    findings.push_back(CheckQueues(name, moved->second, way.priority, {queues.when}));
  }
  return findings;
}

}  // namespace

Findings CheckSettings(const SettingsFacts& facts) {
  if (facts.error.empty()) return {};
  return {Failed(kSettings, "", facts.error, "no program of farcall starts here",
                 "mend the file or the variable; docs/settings.md has all settings")};
}

std::vector<QueueOf> QueuesOf(const node::Inventory& inventory,
                              std::optional<uint32_t> traffic_class,
                              const std::vector<OwnAddress>& own,
                              const std::map<std::string, Dcb>& dcb) {
  std::vector<QueueOf> queues;
  for (const node::Device& device : inventory.devices()) {
    if (!device.software().empty() || node::IsIwarp(device)) continue;
    for (const node::Port& port : device.ports()) {
      if (!node::IsEthernet(port)) continue;
      const AdapterInterface adapter = AdapterInterfaceOf(inventory, device, port, own);
      if (adapter.netdev == nullptr) continue;
      const Way way = WayOf(*adapter.netdev, port, traffic_class, DcbOf(*adapter.netdev, dcb));
      queues.push_back({device.name(), way.interface, way.priority});
    }
  }
  return queues;
}

Findings CheckCongestion(const node::Inventory& inventory, const node::Device& device,
                         std::optional<uint32_t> traffic_class, const std::vector<OwnAddress>& own,
                         const Queues& queues) {
  if (node::IsIwarp(device) || !HasRoce(device)) return {};
  if (!device.software().empty()) {
    return {Ok(kTos, device.name(),
               "a software device: its packets have the priorities of its network interface")};
  }
  Findings findings;
  for (const node::Port& port : device.ports()) {
    if (!node::IsEthernet(port)) continue;
    const AdapterInterface adapter = AdapterInterfaceOf(inventory, device, port, own);
    const Findings of_port = OfPort(device, port, traffic_class, adapter, queues);
    findings.insert(findings.end(), of_port.begin(), of_port.end());
    findings.push_back(TrafficClass(device.name(), port, traffic_class));
    const std::string& mode = port.default_roce_mode();
    if (!mode.empty() && mode != "RoCE v2") {
      findings.push_back(
          Degraded("roce mode", device.name(), "rdma_cm's default is " + mode,
                   "RoCE v1 passes no router, and peers with v2 alone are not reached",
                   absl::StrCat("cma_roce_mode -d ", device.name(), " -m 2")));
    }
  }
  return findings;
}

}  // namespace farcall::doctor
