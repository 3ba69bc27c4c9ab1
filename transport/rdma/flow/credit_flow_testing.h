// SPDX-License-Identifier: Apache-2.0
//
// For tests of CreditFlow.

#ifndef FARCALL_TRANSPORT_RDMA_FLOW_CREDIT_FLOW_TESTING_H_
#define FARCALL_TRANSPORT_RDMA_FLOW_CREDIT_FLOW_TESTING_H_

#include "transport/rdma/flow/credit_flow.h"

namespace farcall {

inline constexpr CreditLimits kEightOfEach{.send_slots = 8,
                                           .receive_slots = 8,
                                           .peer_slots = 8,
                                           .initial_receives = 8,
                                           .initial_credits = 8};

}  // namespace farcall

#endif  // FARCALL_TRANSPORT_RDMA_FLOW_CREDIT_FLOW_TESTING_H_
