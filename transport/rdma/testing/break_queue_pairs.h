// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_TRANSPORT_RDMA_TESTING_BREAK_QUEUE_PAIRS_H_
#define FARCALL_TRANSPORT_RDMA_TESTING_BREAK_QUEUE_PAIRS_H_

namespace farcall {

// Puts all queue pairs of this process into error, as a device does that has met with one, and
// says how many. Any thread.
int BreakQueuePairs();

}  // namespace farcall

#endif  // FARCALL_TRANSPORT_RDMA_TESTING_BREAK_QUEUE_PAIRS_H_
