// SPDX-License-Identifier: Apache-2.0

#include "transport/why_not_rdma.h"

#include <array>
#include <string>

#include "absl/strings/cord.h"
#include "absl/strings/str_cat.h"
#include "transport/base/check.h"

namespace farcall {
namespace {

// The reason's number in the first byte, then the detail.
constexpr absl::string_view kPayload = "farcall/why-not-rdma";

struct Reason {
  absl::string_view name;
  absl::string_view text;
  absl::StatusCode code;
};

constexpr auto kUnavailable = absl::StatusCode::kUnavailable;
constexpr auto kFailedPrecondition = absl::StatusCode::kFailedPrecondition;
constexpr auto kExhausted = absl::StatusCode::kResourceExhausted;

constexpr std::array<Reason, kWhyNotRdmaCount> kReasons = {{
    {"in_use", "RDMA is in use", absl::StatusCode::kOk},
    {"not_asked", "RDMA was not asked for: set use_rdma in the options of this end",
     kFailedPrecondition},
    {"pending", "RDMA is being set up; calls travel over TCP meanwhile", kUnavailable},
    {"no_library",
     "the RDMA libraries cannot be loaded: install libibverbs1, librdmacm1 and ibverbs-providers",
     kFailedPrecondition},
    {"no_device",
     "this host shows no RDMA device: where it has no adapter, TCP is right; else load its driver; "
     "in Kubernetes, request the HCA resource",
     kFailedPrecondition},
    {"device_not_permitted",
     "an RDMA device is there but may not be opened: give this user access to /dev/infiniband",
     absl::StatusCode::kPermissionDenied},
    {"device_excluded", "none of the RDMA devices that the options name is on this host",
     kFailedPrecondition},
    {"no_active_port", "no RDMA port is active: check cable, switch and interface", kUnavailable},
    {"no_address",
     "no RDMA port has the address of a network interface that this process can see: give the "
     "interface an address, or this pod the interface",
     kFailedPrecondition},
    {"memlock", "the process may not lock enough memory: raise RLIMIT_MEMLOCK (ulimit -l)",
     kExhausted},
    {"device_refused", "the RDMA device refused what a connection takes", kExhausted},
    {"capacity", "the receives, queue entries or connections set aside for RDMA are used up",
     kExhausted},
    {"not_for_this_address", "this kind of address has no RDMA", kFailedPrecondition},
    {"peer_silent",
     "the peer speaks no hello of farcall: it is brpc or another program, or a client that has "
     "use_rdma off or no RDMA",
     kFailedPrecondition},
    {"peer_off", "the peer has use_rdma off", kFailedPrecondition},
    {"peer_has_none", "the peer has no RDMA", kUnavailable},
    {"unreachable", "no RDMA address of the peer can be reached from here", kUnavailable},
    {"rejected", "the peer rejected the RDMA connection", kUnavailable},
    {"timed_out", "the RDMA connection was not set up in time", kUnavailable},
    {"broken", "the RDMA connection broke, and is set up again after a pause", kUnavailable},
    {"not_built_in", "this program made its runtime without an RDMA transport",
     kFailedPrecondition},
    {"tls",
     "TLS is on, and RDMA would carry the bytes unencrypted, which rdma_with_tls refuses: set "
     "RdmaWithTls::kAllow, or leave use_rdma off",
     kFailedPrecondition},
}};

const Reason& ReasonFor(WhyNotRdma why) {
  const auto i = static_cast<size_t>(why);
  Check(i < kReasons.size(), "a reason is one of the list");
  return kReasons[i];
}

}  // namespace

absl::string_view Name(WhyNotRdma why) { return ReasonFor(why).name; }

absl::string_view Explain(WhyNotRdma why) { return ReasonFor(why).text; }

absl::Status NotRdma(WhyNotRdma why, absl::string_view detail) {
  const Reason& reason = ReasonFor(why);
  Check(reason.code != absl::StatusCode::kOk, "RDMA in use is no error");
  absl::Status error(reason.code, detail.empty() ? std::string(reason.text)
                                                 : absl::StrCat(reason.text, " (", detail, ")"));
  const char number = static_cast<char>(why);
  error.SetPayload(kPayload, absl::Cord(absl::StrCat(absl::string_view(&number, 1), detail)));
  return error;
}

absl::Status AddDetail(const absl::Status& error, absl::string_view what) {
  const std::string detail = DetailOf(error);
  return NotRdma(ReasonOf(error), absl::StrCat(what, detail.empty() ? "" : ": ", detail));
}

bool CarriesReason(const absl::Status& error) { return error.GetPayload(kPayload).has_value(); }

WhyNotRdma ReasonOf(const absl::Status& error) {
  const auto payload = error.GetPayload(kPayload);
  if (!payload.has_value() || payload->empty()) return WhyNotRdma::kBroken;
  const auto why = static_cast<uint8_t>((*payload)[0]);
  return why < kWhyNotRdmaCount ? static_cast<WhyNotRdma>(why) : WhyNotRdma::kBroken;
}

std::string DetailOf(const absl::Status& error) {
  const auto payload = error.GetPayload(kPayload);
  if (!payload.has_value() || payload->empty()) return std::string(error.message());
  return std::string(payload->Subcord(1, payload->size() - 1));
}

}  // namespace farcall
