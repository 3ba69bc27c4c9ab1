// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_TRANSPORT_LINK_UPGRADE_TESTING_REST_SIM_H_
#define FARCALL_TRANSPORT_LINK_UPGRADE_TESTING_REST_SIM_H_

#include <cstdint>
#include <string>

namespace farcall {

// A client of several rails whose places are sound or err, each in its own way, for half an hour;
// then all are sound. What it asks for, and when, is held against the rule of docs/link.md, which
// is written down here once more. Empty, or what was wrong.
std::string RunRestSim(uint64_t seed);

}  // namespace farcall

#endif  // FARCALL_TRANSPORT_LINK_UPGRADE_TESTING_REST_SIM_H_
