// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_TRANSPORT_LOOP_LOOP_GROUP_H_
#define FARCALL_TRANSPORT_LOOP_LOOP_GROUP_H_

#include <atomic>
#include <cstddef>
#include <utility>
#include <vector>

#include "transport/base/check.h"
#include "transport/loop/event_loop.h"

namespace farcall {

// The loops over which connections are spread. Any thread.
class LoopGroup {
 public:
  // Not empty; the loops outlive the group.
  explicit LoopGroup(std::vector<EventLoop*> loops) : loops_(std::move(loops)) {
    Check(!loops_.empty(), "a loop group has a loop");
  }

  EventLoop& Next() {
    return *loops_[next_.fetch_add(1, std::memory_order_relaxed) % loops_.size()];
  }
  EventLoop& at(size_t i) const { return *loops_.at(i); }
  size_t size() const { return loops_.size(); }

 private:
  std::vector<EventLoop*> loops_;
  std::atomic<size_t> next_{0};
};

}  // namespace farcall

#endif  // FARCALL_TRANSPORT_LOOP_LOOP_GROUP_H_
