// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_TRANSPORT_RDMA_FLOW_COMPLETION_QUEUE_BUDGET_H_
#define FARCALL_TRANSPORT_RDMA_FLOW_COMPLETION_QUEUE_BUDGET_H_

#include <cstdint>

#include "transport/base/check.h"

namespace farcall {

// The entries of a completion queue that are not reserved. When a device fails, all that
// is posted completes at once, and a queue that overflows is broken for all of its queue
// pairs: so whoever posts has taken an entry before, and gives it back when the completion was
// polled. Pure; one thread at a time.
class CompletionQueueBudget {
 public:
  explicit CompletionQueueBudget(uint32_t entries) : free_(entries), entries_(entries) {}

  // False: there are not so many, and none is taken.
  [[nodiscard]] bool Take(uint32_t entries) {
    if (entries > free_) return false;
    free_ -= entries;
    return true;
  }
  void Give(uint32_t entries) {
    Check(entries <= entries_ - free_, "only what was taken is given back");
    free_ += entries;
  }

  uint32_t free() const { return free_; }
  uint32_t entries() const { return entries_; }

 private:
  uint32_t free_;
  uint32_t entries_;
};

}  // namespace farcall

#endif  // FARCALL_TRANSPORT_RDMA_FLOW_COMPLETION_QUEUE_BUDGET_H_
