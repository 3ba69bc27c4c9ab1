// SPDX-License-Identifier: Apache-2.0

#include "tools/doctor/introduction.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "tools/doctor/checks/checks.h"
#include "tools/doctor/checks/interfaces.h"
#include "tools/doctor/collect.h"
#include "tools/doctor/look/queues.h"
#include "tools/doctor/peer/networks.h"
#include "tools/doctor/peer/queue_counts.h"
#include "tools/doctor/report_text.h"
#include "tools/farcall/files.h"
#include "transport/rdma/setup/network_status.h"

namespace farcall::doctor {
namespace {

Network NetworkOf(const OwnAddress& own, const std::string& device) {
  Network network;
  network.set_address(own.ip);
  network.set_interface(own.interface);
  network.set_device(device);
  return network;
}

// A device whose queue pairs are set up over TCP has no address here.
Network RailOf(const Facts& facts, const node::Device& device) {
  for (const node::Port& port : device.ports()) {
    const node::Netdev* const netdev = InterfaceOf(facts.now, device, port, facts.own);
    if (netdev == nullptr) continue;
    for (const OwnAddress& own : facts.own) {
      if (own.interface == netdev->name()) return NetworkOf(own, device.name());
    }
  }
  Network network;
  network.set_device(device.name());
  return network;
}

}  // namespace

std::vector<Network> NetworksOf(const Facts& facts, const std::string& status) {
  std::vector<Network> networks;
  for (const std::string& name : UsableHere(facts)) {
    const node::Device* const device = node::FindDevice(facts.now, name);
    if (device != nullptr) networks.push_back(RailOf(facts, *device));
  }
  const auto of_pod = ParseNetworkStatus(status);
  if (!of_pod.ok()) return networks;
  for (const OwnAddress& own : facts.own) {
    const bool known = std::any_of(networks.begin(), networks.end(), [&](const Network& each) {
      return each.interface() == own.interface;
    });
    const auto address = IpWithPort(own.ip, 0);
    if (!known && address.ok() && IsOfSecondNetwork(*of_pod, *address, own.interface)) {
      networks.push_back(NetworkOf(own, ""));
    }
  }
  return networks;
}

Introduction IntroductionOf(const Facts& facts, const Report& report) {
  Introduction introduction;
  introduction.summary = report.summary;
  // InfiniBand's and iWARP's GIDs are no addresses: rdma_cm goes by those of the host.
  for (const OwnAddress& own : facts.own) introduction.addresses.push_back(own.ip);
  if (facts.verdict.reason != "in_use") {
    // Raw verbs may reach it all the same, which tells that the network is not the cause.
    introduction.trouble = absl::StrCat(facts.verdict.reason, ": ", facts.verdict.detail);
  }
  const std::string& path = facts.settings.network_status;
  const auto status = path.empty() ? std::string() : cli::ReadFile(path).value_or("");
  introduction.networks = NetworksOf(facts, status);
  const std::vector<QueueOf> queues =
      QueuesOf(facts.now, facts.settings.traffic_class, facts.own, facts.queues.dcb);
  introduction.count = [queues, interfaces = InterfacesOf(facts.now, facts.own)] {
    return ToMessage(queues, ReadCounters(interfaces));
  };
  return introduction;
}

ReportResponse ToMessage(const Report& report) {
  ReportResponse told;
  told.set_status(std::string(StatusOf(report.code)));
  told.set_summary(report.summary);
  for (const Finding& finding : report.findings) {
    if (finding.verdict != Verdict::kDegraded && finding.verdict != Verdict::kFailed) continue;
    ReportResponse::Finding& each = *told.add_findings();
    each.set_check(finding.check);
    each.set_subject(finding.subject);
    each.set_verdict(std::string(Name(finding.verdict)));
    each.set_finding(finding.finding);
    each.set_cure(finding.cure);
  }
  return told;
}

}  // namespace farcall::doctor
