// SPDX-License-Identifier: Apache-2.0

#include "transport/loop/queues/mailbox.h"

#include <utility>

namespace farcall {

void Mailbox::Put(Task task) {
  PostedTask* const posted = new PostedTask{std::move(task), top_.load(std::memory_order_relaxed)};
  // seq_cst pairs with EventLoop's "asleep" flag: either the sender sees the loop
  // asleep, or the loop sees the task.
  while (!top_.compare_exchange_weak(posted->next, posted, std::memory_order_seq_cst,
                                     std::memory_order_relaxed)) {
  }
}

size_t Mailbox::RunAll() {
  if (top_.load(std::memory_order_relaxed) == nullptr) return 0;
  PostedTask* posted = Reverse(top_.exchange(nullptr, std::memory_order_acquire));
  size_t count = 0;
  while (posted != nullptr) {
    posted->task();
    delete std::exchange(posted, posted->next);
    ++count;
  }
  return count;
}

void Mailbox::Clear() {
  PostedTask* posted = Reverse(top_.exchange(nullptr, std::memory_order_acquire));
  while (posted != nullptr) delete std::exchange(posted, posted->next);
}

Mailbox::PostedTask* Mailbox::Reverse(PostedTask* top) {
  PostedTask* reversed = nullptr;
  while (top != nullptr) {
    PostedTask* const next = top->next;
    top->next = reversed;
    reversed = top;
    top = next;
  }
  return reversed;
}

}  // namespace farcall
