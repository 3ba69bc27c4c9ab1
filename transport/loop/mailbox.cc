// SPDX-License-Identifier: Apache-2.0

#include "transport/loop/mailbox.h"

#include <utility>

namespace farcall {

void Mailbox::Put(Task task) {
  Letter* const letter = new Letter{std::move(task), top_.load(std::memory_order_relaxed)};
  // seq_cst pairs with EventLoop's "asleep" flag: either the sender sees the loop
  // asleep, or the loop sees the letter.
  while (!top_.compare_exchange_weak(letter->next, letter, std::memory_order_seq_cst,
                                     std::memory_order_relaxed)) {
  }
}

size_t Mailbox::RunAll() {
  if (top_.load(std::memory_order_relaxed) == nullptr) return 0;
  Letter* letter = Reverse(top_.exchange(nullptr, std::memory_order_acquire));
  size_t count = 0;
  while (letter != nullptr) {
    letter->task();
    delete std::exchange(letter, letter->next);
    ++count;
  }
  return count;
}

void Mailbox::Clear() {
  Letter* letter = Reverse(top_.exchange(nullptr, std::memory_order_acquire));
  while (letter != nullptr) delete std::exchange(letter, letter->next);
}

Mailbox::Letter* Mailbox::Reverse(Letter* top) {
  Letter* reversed = nullptr;
  while (top != nullptr) {
    Letter* const next = top->next;
    top->next = reversed;
    reversed = top;
    top = next;
  }
  return reversed;
}

}  // namespace farcall
