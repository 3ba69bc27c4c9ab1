// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_TRANSPORT_LINK_TESTING_BRPC_SIM_H_
#define FARCALL_TRANSPORT_LINK_TESTING_BRPC_SIM_H_

#include <cstdint>
#include <string>

namespace farcall {

// Seeds that find each of the mutants several times over.
constexpr uint64_t kBrpcSimSeeds = 1000;

// brpc's handshake in virtual time, this library's link at one end and a peer that is done by hand
// at the other: it is late, refuses, decides for TCP, sends before it has decided, falls silent or
// dies at any step. With some seeds the network and the fabric fail, too. Returns what was wrong;
// empty: nothing.
std::string RunBrpcSim(uint64_t seed);

}  // namespace farcall

#endif  // FARCALL_TRANSPORT_LINK_TESTING_BRPC_SIM_H_
