// SPDX-License-Identifier: Apache-2.0
//
// For tests of message plans.

#ifndef FARCALL_TRANSPORT_RDMA_FLOW_MESSAGE_PLAN_TESTING_H_
#define FARCALL_TRANSPORT_RDMA_FLOW_MESSAGE_PLAN_TESTING_H_

#include <vector>

#include "transport/rdma/flow/message_plan.h"

namespace farcall {

inline std::vector<MessagePlan::Segment> SegmentsOf(const MessagePlan& plan) {
  return {plan.segments.begin(), plan.segments.begin() + plan.segment_count};
}

}  // namespace farcall

#endif  // FARCALL_TRANSPORT_RDMA_FLOW_MESSAGE_PLAN_TESTING_H_
