// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <map>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "tools/doctor/checks/checks.h"

namespace farcall::doctor {
namespace {

enum class Kind { kLink, kLoss, kCongestion, kReceives };

struct Known {
  const char* name;
  Kind kind;
};

// Of the kernel's counters and hw_counters (Documentation/ABI/stable/sysfs-class-infiniband), of
// mlx5, of rxe, and of the drivers named below.
constexpr Known kKnown[] = {
    {"symbol_error", Kind::kLink},
    {"link_error_recovery", Kind::kLink},
    {"link_downed", Kind::kLink},
    {"port_rcv_errors", Kind::kLink},
    {"port_rcv_remote_physical_errors", Kind::kLink},
    {"local_link_integrity_errors", Kind::kLink},
    {"link_downed_counter", Kind::kLink},
    {"rx_icrc_encapsulated", Kind::kLink},
    {"port_xmit_discards", Kind::kLoss},
    {"excessive_buffer_overrun_errors", Kind::kLoss},
    {"out_of_sequence", Kind::kLoss},
    {"out_of_seq_request", Kind::kLoss},
    {"packet_seq_err", Kind::kLoss},
    {"rcvd_seq_err", Kind::kLoss},
    {"implied_nak_seq_err", Kind::kLoss},
    {"local_ack_timeout_err", Kind::kLoss},
    {"duplicate_request", Kind::kLoss},
    {"completer_retry_err", Kind::kLoss},
    {"retry_exceeded_err", Kind::kLoss},
    {"roce_adp_retrans", Kind::kLoss},
    {"roce_slow_restart", Kind::kLoss},
    {"port_xmit_wait", Kind::kCongestion},
    {"np_cnp_sent", Kind::kCongestion},
    {"np_ecn_marked_roce_packets", Kind::kCongestion},
    {"rp_cnp_handled", Kind::kCongestion},
    {"out_of_buffer", Kind::kReceives},
    {"rnr_nak_retry_err", Kind::kReceives},
    {"rcvd_rnr_err", Kind::kReceives},
    {"send_rnr_err", Kind::kReceives},
    {"retry_rnr_exceeded_err", Kind::kReceives},
    // bnxt_re
    {"rx_roce_errors", Kind::kLink},
    {"rx_roce_discards", Kind::kLoss},
    {"tx_roce_discards", Kind::kLoss},
    {"to_retransmits", Kind::kLoss},
    {"seq_err_naks_rcvd", Kind::kLoss},
    {"max_retry_exceeded", Kind::kLoss},
    {"dup_req", Kind::kLoss},
    {"rx_cnp_pkts", Kind::kCongestion},
    {"tx_cnp_pkts", Kind::kCongestion},
    {"rx_ecn_marked_pkts", Kind::kCongestion},
    {"rnr_naks_rcvd", Kind::kReceives},
    // irdma
    {"ip4InDiscards", Kind::kLoss},
    {"ip6InDiscards", Kind::kLoss},
    {"tcpRetransSegs", Kind::kLoss},
    {"cnpSent", Kind::kCongestion},
    {"cnpHandled", Kind::kCongestion},
    {"RxECNMrkd", Kind::kCongestion},
};

struct Advice {
  const char* meaning;
  const char* cure;
};

Advice AdviceOf(Kind kind) {
  switch (kind) {
    case Kind::kLink:
      return {"the link itself makes errors", "cable, transceiver, the switch's port"};
    case Kind::kLoss:
      return {"packets are lost or late and are sent again",
              "PFC for the traffic class, ECN, the same MTU along the path"};
    case Kind::kCongestion:
      return {"senders are slowed down: the network is congested, and says so",
              "nothing, if bandwidth suffices; else another path or fewer senders"};
    case Kind::kReceives:
      break;
  }
  return {"messages find no receive posted", "the peer's program; of farcall that is a bug"};
}

using Values = std::map<std::string, uint64_t>;

void Take(const google::protobuf::RepeatedPtrField<node::Counter>& counters, Values& values) {
  for (const node::Counter& counter : counters) values[counter.name()] += counter.value();
}

Values ValuesOf(const node::Device& device) {
  Values values;
  Take(device.hw_counters(), values);
  for (const node::Port& port : device.ports()) {
    Take(port.counters(), values);
    Take(port.hw_counters(), values);
  }
  return values;
}

}  // namespace

Findings CheckCounters(const node::Device& before, const node::Device& after, double seconds) {
  constexpr const char* kCheck = "counters";
  const Values first = ValuesOf(before);
  const Values last = ValuesOf(after);
  std::map<Kind, std::vector<std::string>> moved;
  std::vector<std::string> stand;
  size_t watched = 0;
  for (const auto& [name, kind] : kKnown) {
    const auto now = last.find(name);
    const auto was = first.find(name);
    if (now == last.end() || was == first.end()) continue;
    ++watched;
    if (now->second > was->second) {
      moved[kind].push_back(absl::StrCat(name, " +", now->second - was->second));
    } else if (now->second > 0) {
      stand.push_back(absl::StrCat(name, " ", now->second));
    }
  }
  if (watched == 0 && !last.empty()) {
    return {Unknown(kCheck, after.name(),
                    absl::StrCat("counters here: ", last.size(), ", none known to this program"),
                    "whether its driver counts errors and losses, and by which names, is not known",
                    "rdma statistic show, ethtool -S")};
  }
  if (watched == 0) {
    // The devices that ib_core shows to other namespaces have no counters.
    return {
        Unknown(kCheck, after.name(), "no counter of errors is shown here",
                "the kernel shows them in the first network namespace, and some drivers have none",
                "on the host: rdma statistic show, ethtool -S, doctor")};
  }
  Findings findings;
  for (const auto& [kind, names] : moved) {
    const Advice advice = AdviceOf(kind);
    // Congestion that is told is what keeps packets from being lost.
    const bool fine = kind == Kind::kCongestion;
    findings.push_back({kCheck, after.name(), fine ? Verdict::kOk : Verdict::kDegraded,
                        absl::StrFormat("in %.3g s: %s", seconds, absl::StrJoin(names, ", ")),
                        advice.meaning, advice.cure});
  }
  if (!findings.empty()) return findings;
  return {
      Ok(kCheck, after.name(),
         absl::StrFormat(
             "none of %d of errors and congestion moved in %.3g s%s", watched, seconds,
             stand.empty() ? "" : "; since the driver was loaded: " + absl::StrJoin(stand, ", ")))};
}

Findings CheckDevices(const node::Inventory& inventory) {
  constexpr const char* kCheck = "devices";
  if (inventory.devices().empty()) {
    const auto& modules = inventory.modules();
    const bool core = std::find(modules.begin(), modules.end(), "ib_core") != modules.end();
    return {Failed(
        kCheck, "",
        absl::StrCat("/sys/class/infiniband shows none; RDMA modules: ",
                     modules.empty() ? "none" : absl::StrJoin(modules, " ")),
        core ? "the driver of the adapter is missing, or the devices are in other namespaces "
               "(reason no_device)"
             : "the kernel has no RDMA, or this container does not see it (reason no_device)",
        "host with an adapter: load its driver (mlx5_ib, irdma, bnxt_re); without one TCP is "
        "right; pod: request the RDMA resource")};
  }
  std::vector<std::string> names;
  for (const node::Device& device : inventory.devices()) {
    names.push_back(device.name());
    if (!device.software().empty()) absl::StrAppend(&names.back(), " (", device.software(), ")");
    if (node::IsVirtualFunction(device)) absl::StrAppend(&names.back(), " (virtual function)");
  }
  Findings findings = {Ok(kCheck, "", absl::StrJoin(names, ", "))};
  for (const std::string& cut : inventory.cut()) {
    findings.push_back(Unknown(kCheck, "", cut, "what is beyond was not looked at"));
  }
  return findings;
}

}  // namespace farcall::doctor
