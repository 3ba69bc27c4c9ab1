// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_TRANSPORT_RDMA_FLOW_TESTING_READ_CHOICE_SIM_H_
#define FARCALL_TRANSPORT_RDMA_FLOW_TESTING_READ_CHOICE_SIM_H_

#include <cstdint>
#include <string>

namespace farcall {

// A connection with a device of which sends and READs have rates of their own, programs that send
// and receive in their ways, and a ReadChoice between the two. What follows from `seed` is the
// same each time. What the choice did wrong, or nothing.
std::string RunReadChoiceSim(uint64_t seed);

}  // namespace farcall

#endif  // FARCALL_TRANSPORT_RDMA_FLOW_TESTING_READ_CHOICE_SIM_H_
