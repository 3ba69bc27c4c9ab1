// SPDX-License-Identifier: Apache-2.0
//
// Why a connection does not use RDMA: one list of reasons for options, logs,
// counters, the status page and Controller::connection().

#ifndef FARCALL_TRANSPORT_WHY_NOT_RDMA_H_
#define FARCALL_TRANSPORT_WHY_NOT_RDMA_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace farcall {

// The numbers travel in rejects and declines: never reuse one.
enum class WhyNotRdma : uint8_t {
  kInUse = 0,     // it does
  kNotAsked = 1,  // use_rdma is off at this end
  kPending = 2,   // being set up; calls travel over TCP meanwhile
  // This host.
  kNoLibrary = 3,           // libibverbs or librdmacm cannot be loaded
  kNoDevice = 4,            // there is none
  kDeviceNotPermitted = 5,  // there is one, and this process may not open it
  kDeviceExcluded = 6,      // the options name devices, and none of them is here
  kNoActivePort = 7,        // no port is active
  kNoAddress = 8,           // no port has a GID of a network interface in this namespace
  kMemlock = 9,             // the pool may not be locked into memory
  kDeviceRefused = 10,      // the device or its driver refused what a connection takes
  kCapacity = 11,           // receives, queue entries or connections are used up
  kNotForThisAddress = 12,  // a unix socket, or an address that has no RDMA
  // The peer.
  kPeerSilent = 13,   // it speaks no hello: brpc, another program, a client without RDMA
  kPeerOff = 14,      // use_rdma is off there
  kPeerHasNone = 15,  // it has no RDMA for one of the reasons above
  // The way there.
  kUnreachable = 16,  // address or route does not resolve from here
  kRejected = 17,     // the peer rejected: token, version, or nothing listens
  kTimedOut = 18,     // no answer in time
  kBroken = 19,       // it was in use and broke; tried again with a pause
  kNotBuiltIn = 20,   // the program composed its transports without RDMA
  kTls = 21,          // TLS is on, and rdma_with_tls refuses
};
constexpr size_t kWhyNotRdmaCount = 22;

// What became of connections that asked for RDMA.
struct UpgradeCounts {
  uint64_t upgrades = 0;  // connections, or rather their sending ends, that went over to RDMA
  // Times that a connection stayed on TCP or fell back to it, by WhyNotRdma.
  std::array<uint64_t, kWhyNotRdmaCount> fallbacks{};
  // Times that bytes waited for long although the peer answers; connections where they do now.
  uint64_t stalls = 0;
  uint64_t stalled = 0;
};

// A short name for metrics and JSON: "no_device".
absl::string_view Name(WhyNotRdma why);
// One line for people: the reason, and the cure where there is one.
absl::string_view Explain(WhyNotRdma why);

// An error that carries a reason and its detail, which stay as they are however the error is
// annotated. `detail` (may be empty) has the names and numbers of this case, and stands behind
// Explain(why) in the message.
absl::Status NotRdma(WhyNotRdma why, absl::string_view detail);
// The same with `what` before the detail: "WHAT: DETAIL", or WHAT alone.
absl::Status AddDetail(const absl::Status& error, absl::string_view what);
// Whether `error` was made by NotRdma.
bool CarriesReason(const absl::Status& error);
// The reason that `error` carries; kBroken if it carries none.
WhyNotRdma ReasonOf(const absl::Status& error);
// The detail that `error` carries; its message if it carries no reason.
std::string DetailOf(const absl::Status& error);

}  // namespace farcall

#endif  // FARCALL_TRANSPORT_WHY_NOT_RDMA_H_
