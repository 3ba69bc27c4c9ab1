// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_TRANSPORT_LOOP_POSTED_CALL_H_
#define FARCALL_TRANSPORT_LOOP_POSTED_CALL_H_

#include <memory>
#include <utility>

#include "transport/loop/event_loop.h"

namespace farcall {

// A call from the loop's mailbox, with nothing of its owner below it on the stack: so it
// may destroy the owner. If the owner dies before, the call is not made. With the loop held.
class PostedCall {
 public:
  // A call posted before and not made yet is replaced.
  void Post(EventLoop& loop, EventLoop::Task call) {
    call_ = std::make_shared<EventLoop::Task>(std::move(call));
    loop.Post([posted = std::weak_ptr<EventLoop::Task>(call_)] {
      // Held here while it runs, although it may destroy the owner.
      if (const auto alive = posted.lock()) (*alive)();
    });
  }

 private:
  std::shared_ptr<EventLoop::Task> call_;
};

}  // namespace farcall

#endif  // FARCALL_TRANSPORT_LOOP_POSTED_CALL_H_
