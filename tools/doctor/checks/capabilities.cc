// SPDX-License-Identifier: Apache-2.0

#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "tools/doctor/checks/checks.h"
#include "transport/rdma_options.h"

namespace farcall::doctor {
namespace {

constexpr absl::string_view kRelaxedOrdering = "relaxed ordering";

struct Lack {
  std::string finding;
  const char* meaning;
  const char* cure;
};

std::vector<Lack> LacksOf(const VerbsDevice& device, bool no_pci_settings) {
  const RdmaOptions wanted;
  std::vector<Lack> lacks;
  if (device.max_srq == 0) {
    lacks.push_back({"no shared receive queues",
                     "each connection has receives of its own: memory grows with connections",
                     "RdmaOptions::receive_slots lower, where there are many connections"});
  }
  if (!no_pci_settings && device.relaxed_ordering == false) {
    lacks.push_back({absl::StrCat(kRelaxedOrdering, " off in PCI Express"),
                     "less bandwidth on AMD and older Intel hosts",
                     "relaxed ordering: setpci CAP_EXP+8.w, or the vendor's tool "
                     "(PCI_WR_ORDERING=1)"});
  }
  // Some entries less, as with rxe, make no difference.
  const auto entries = static_cast<uint32_t>(device.max_cqe);
  if (entries > 0 && entries < wanted.completion_queue_depth / 2) {
    lacks.push_back({absl::StrCat("completion queues of ", device.max_cqe,
                                  " entries, clipped from ", wanted.completion_queue_depth),
                     "fewer connections for each event loop",
                     "more event loops (RuntimeOptions::event_loops), or fewer connections"});
  }
  return lacks;
}

template <typename Member>
std::string Joined(const std::vector<Lack>& lacks, Member member) {
  return absl::StrJoin(lacks, "; ", [member](std::string* out, const Lack& lack) {
    absl::StrAppend(out, lack.*member);
  });
}

}  // namespace

Finding CheckCapabilities(const VerbsDevice& device, bool no_pci_settings) {
  constexpr const char* kCheck = "capabilities";
  if (!device.error.empty()) {
    return Unknown(kCheck, device.name, "the device does not open: " + device.error);
  }
  const std::vector<Lack> lacks = LacksOf(device, no_pci_settings);
  std::vector<std::string> all;
  if (!lacks.empty()) all.push_back(Joined(lacks, &Lack::finding));
  if (device.max_srq > 0) all.push_back("shared receive queues");
  if (device.max_inline.has_value()) {
    all.push_back(absl::StrCat("inline up to ", *device.max_inline, " bytes of ",
                               RdmaOptions{}.max_inline, " asked for"));
  }
  if (!no_pci_settings && device.relaxed_ordering == true) {
    all.push_back(absl::StrCat(kRelaxedOrdering, " enabled"));
  }
  // Without them rdma.read_at_least does nothing; nobody has it on by default.
  all.push_back(device.windows ? "memory windows of type 2" : "no memory windows of type 2");
  all.push_back(absl::StrCat(device.max_qp, " queue pairs"));
  return {kCheck,
          device.name,
          lacks.empty() ? Verdict::kOk : Verdict::kDegraded,
          absl::StrJoin(all, "; "),
          Joined(lacks, &Lack::meaning),
          Joined(lacks, &Lack::cure)};
}

Finding CheckLibraryVerdict(const LibraryVerdict& verdict) {
  constexpr const char* kCheck = "farcall";
  if (verdict.reason == "in_use") {
    return Ok(kCheck, "", "the library finds RDMA that it can use");
  }
  if (verdict.reason == LibraryVerdict::kNotTold) {
    return Failed(
        kCheck, "", verdict.detail,
        "the library does not start, so that it could not be asked whether it uses RDMA",
        "what the library says above: an option, the environment, or a limit of this process");
  }
  return Failed(kCheck, "", absl::StrCat(verdict.reason, ": ", verdict.detail),
                "the library itself says so: calls stay on TCP",
                absl::StrCat("docs/why-is-rdma-off.md, ", verdict.reason));
}

Finding CheckLoopback(const LoopbackFacts& facts) {
  constexpr const char* kCheck = "loopback";
  if (!facts.tried) {
    return Unknown(kCheck, facts.device, "not pinged: " + facts.detail);
  }
  if (!facts.answered) {
    return Degraded(kCheck, facts.device, absl::StrCat("no answer: ", facts.detail),
                    "no call of this process to itself was answered in time",
                    "sockets of this network namespace: ip addr show lo");
  }
  if (facts.reason == "in_use" && facts.over != facts.device) {
    return Unknown(kCheck, facts.device,
                   absl::StrCat("not pinged: the call went over ", facts.over,
                                ", as rdma.devices comes before what doctor asks for"));
  }
  if (facts.reason == "in_use") {
    return Ok(kCheck, facts.device,
              absl::StrCat("a call to itself over RDMA took ",
                           static_cast<uint64_t>(facts.ping_us * 10) / 10, ".",
                           static_cast<uint64_t>(facts.ping_us * 10) % 10, " us (median)"));
  }
  return Degraded(kCheck, facts.device, absl::StrCat(facts.reason, ": ", facts.detail),
                  "a call from this process to itself did not go over this device",
                  absl::StrCat("docs/why-is-rdma-off.md, ", facts.reason,
                               "; some adapters refuse loopback: doctor --peer decides"));
}

}  // namespace farcall::doctor
