// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_TRANSPORT_LOOP_QUEUES_MAILBOX_H_
#define FARCALL_TRANSPORT_LOOP_QUEUES_MAILBOX_H_

#include <atomic>
#include <cstddef>

#include "absl/functional/any_invocable.h"

namespace farcall {

// Work for a loop from any thread, in order for each sender. A lock-free stack
// that the loop takes whole and turns round. Not bounded itself: who posts on
// behalf of a peer or a user bounds how much of that is under way.
class Mailbox {
 public:
  using Task = absl::AnyInvocable<void()>;

  Mailbox() = default;
  Mailbox(const Mailbox&) = delete;
  Mailbox& operator=(const Mailbox&) = delete;
  ~Mailbox() { Clear(); }

  // Any thread.
  void Put(Task task);
  bool empty() const { return top_.load(std::memory_order_seq_cst) == nullptr; }

  // One thread at a time. Runs what was there when it began; returns how many.
  size_t RunAll();
  // One thread at a time. Destroys what is there without running it.
  void Clear();

 private:
  struct PostedTask {
    Task task;
    PostedTask* next;
  };
  static PostedTask* Reverse(PostedTask* top);

  std::atomic<PostedTask*> top_{nullptr};
};

}  // namespace farcall

#endif  // FARCALL_TRANSPORT_LOOP_QUEUES_MAILBOX_H_
