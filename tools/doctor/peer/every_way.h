// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_TOOLS_DOCTOR_PEER_EVERY_WAY_H_
#define FARCALL_TOOLS_DOCTOR_PEER_EVERY_WAY_H_

#include <atomic>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "tools/doctor/peer/comparison.h"
#include "tools/doctor/peer/networks.h"
#include "tools/doctor/peer/ways.h"

namespace farcall::doctor {

// No more rails, and no more networks, than so many are measured.
inline constexpr size_t kMaxWays = 8;

// All ways from this host to another.
struct EveryWay {
  Address server;                      // of the doctor there
  std::vector<std::string> addresses;  // more of that host, without port: TCP over each
  std::vector<Network> own;            // of this host: its devices are rails
  Networks allowed;               // addresses that the other host tells, and lie elsewhere, are
                                  // not gone to
  const VerbsApi* api = nullptr;  // null where the libraries do not load
  Duration how_long{};            // for each number
};

// Raw verbs and farcall over RDMA by each rail, where this host has several; over TCP, and over TCP
// by each network that the other host tells of. What is left when `stop` is set has that as its
// trouble. An error: no doctor is reached there.
absl::StatusOr<std::vector<ComparisonRow>> MeasureEveryWay(const EveryWay& ways,
                                                           const std::atomic<bool>& stop);

}  // namespace farcall::doctor

#endif  // FARCALL_TOOLS_DOCTOR_PEER_EVERY_WAY_H_
