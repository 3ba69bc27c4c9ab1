// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "tools/doctor/checks/checks.h"
#include "tools/doctor/checks/interfaces.h"

namespace farcall::doctor {
namespace {

constexpr const char* kEcn = "ecn";
constexpr const char* kSettings = "settings";
constexpr const char* kTos = "traffic class";
constexpr const char* kPfc = "pfc and trust";

template <typename Priorities>
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

Finding Ecn(const std::string& device, const AdapterInterface& adapter) {
  constexpr const char* kNotKnown =
      "whether this adapter slows down for marked packets is not known here";
  if (adapter.netdev == nullptr) {
    return {kEcn, device, Verdict::kUnknown, kNoInterface, kNotKnown, ""};
  }
  const node::Netdev& netdev = *adapter.netdev;
  const std::string where = absl::StrCat("/sys/class/net/", netdev.name(), "/ecn");
  const auto& notifies = netdev.ecn_np_priorities();
  const auto& reacts = netdev.ecn_rp_priorities();
  if (!netdev.ecn_files() && notifies.empty() && reacts.empty()) {
    return {kEcn,
            device,
            Verdict::kUnknown,
            absl::StrCat(where, " is not here: not every driver has it"),
            kNotKnown,
            "on the host: mlnx_qos, or the vendor's tool"};
  }
  const std::string text = absl::StrCat("notifies for priorities ", PrioritiesText(notifies),
                                        ", reacts for ", PrioritiesText(reacts), OfBond(adapter));
  if (!notifies.empty() && !reacts.empty()) return {kEcn, device, Verdict::kOk, text, "", ""};
  return {kEcn,
          device,
          Verdict::kDegraded,
          text,
          "congestion ends in lost packets or pauses instead of slower senders",
          absl::StrCat("echo 1 > ", where,
                       "/roce_np/enable/3, the same for roce_rp; and marks in the switches")};
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
  // "Global tclass=106"; 0 marks nothing.
  const bool by_driver = port.traffic_class().find_first_of("123456789") != std::string::npos;
  const bool marked = own.value_or(0) != 0 || port.default_roce_tos() != 0 || by_driver;
  if (marked) return {kTos, device, Verdict::kOk, text, "", ""};
  return {kTos,
          device,
          port.has_default_roce_tos() ? Verdict::kDegraded : Verdict::kUnknown,
          text,
          "without a mark switches treat RoCE as all other traffic",
          "FARCALL_TRAFFIC_CLASS or ChannelOptions::traffic_class (104 is DSCP 26), the same in "
          "adapter and switch"};
}

// Whether PFC is on for any priority; nothing where the driver's text does not tell: a flag for
// each of the eight ("0,0,0,1,0,0,0,0"), or their bits as one number ("0x8").
std::optional<bool> PfcIsOn(absl::string_view text) {
  const std::vector<absl::string_view> flags =
      absl::StrSplit(text, absl::ByAnyChar(", \t\n"), absl::SkipEmpty());
  const bool all_flags = std::all_of(flags.begin(), flags.end(), [](absl::string_view flag) {
    return flag == "0" || flag == "1";
  });
  if (flags.size() == 8 && all_flags) {
    return std::find(flags.begin(), flags.end(), "1") != flags.end();
  }
  int bits = 0;
  const bool one = flags.size() == 1 &&
                   (absl::SimpleAtoi(flags[0], &bits) || absl::SimpleHexAtoi(flags[0], &bits));
  if (one && bits >= 0 && bits < 256) return bits != 0;
  return std::nullopt;
}

Finding PfcAndTrust(const std::string& device, const AdapterInterface& adapter) {
  constexpr const char* kLoses =
      "RoCE without priority flow control needs ECN, or loses packets under load";
  if (adapter.netdev == nullptr) {
    return {kPfc, device, Verdict::kUnknown, kNoInterface, kLoses, ""};
  }
  const node::Netdev& netdev = *adapter.netdev;
  const std::string& trust = netdev.qos_trust();
  const std::string text =
      absl::StrCat("trust ", trust.empty() ? "not readable" : trust, "; pfc ",
                   netdev.qos_pfc().empty() ? "not readable" : netdev.qos_pfc(), OfBond(adapter));
  const std::string tool = absl::StrCat("mlnx_qos -i ", netdev.name());
  if (!trust.empty() && trust != "dscp") {
    return {kPfc,
            device,
            Verdict::kDegraded,
            text,
            "the adapter does not go by DSCP: what is marked so lands in the priority of the rest",
            tool + " --trust dscp"};
  }
  const std::optional<bool> pfc = PfcIsOn(netdev.qos_pfc());
  if (pfc == false) {
    return {kPfc,
            device,
            Verdict::kDegraded,
            text,
            absl::StrCat("off for all priorities: ", kLoses),
            tool + " --pfc 0,0,0,1,0,0,0,0 for priority 3, and the same in the switches"};
  }
  if (pfc == true && !trust.empty()) return {kPfc, device, Verdict::kOk, text, "", ""};
  return {kPfc, device, Verdict::kUnknown,
          text, kLoses, absl::StrCat("on the host: dcb pfc show dev ", netdev.name(), "; ", tool)};
}

}  // namespace

Findings CheckSettings(const SettingsFacts& facts) {
  if (facts.error.empty()) return {};
  return {{kSettings, "", Verdict::kFailed, facts.error, "no program of farcall starts here",
           "mend the file or the variable; docs/settings.md has all settings"}};
}

Findings CheckCongestion(const node::Inventory& inventory, const node::Device& device,
                         std::optional<uint32_t> traffic_class,
                         const std::vector<OwnAddress>& own) {
  if (node::IsIwarp(device) || !HasRoce(device)) return {};
  if (!device.software().empty()) {
    return {{kTos, device.name(), Verdict::kOk,
             "a software device: its packets have the priorities of its network interface", "",
             ""}};
  }
  Findings findings;
  for (const node::Port& port : device.ports()) {
    if (!node::IsEthernet(port)) continue;
    const AdapterInterface adapter = AdapterInterfaceOf(inventory, device, port, own);
    findings.push_back(PfcAndTrust(device.name(), adapter));
    findings.push_back(Ecn(device.name(), adapter));
    findings.push_back(TrafficClass(device.name(), port, traffic_class));
    const std::string& mode = port.default_roce_mode();
    if (!mode.empty() && mode != "RoCE v2") {
      findings.push_back({"roce mode", device.name(), Verdict::kDegraded,
                          "rdma_cm's default is " + mode,
                          "RoCE v1 passes no router, and peers with v2 alone are not reached",
                          absl::StrCat("cma_roce_mode -d ", device.name(), " -m 2")});
    }
  }
  return findings;
}

}  // namespace farcall::doctor
