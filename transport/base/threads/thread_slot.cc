// SPDX-License-Identifier: Apache-2.0

#include "transport/base/threads/thread_slot.h"

#include <atomic>
#include <bit>
#include <cstdint>

namespace farcall {
namespace {

// A bit for each slot that a thread has. Only numbers are handed out through it, so no
// order between threads is needed.
constinit std::atomic<uint64_t> taken_slots{0};
static_assert(kThreadSlots == 64, "a bit for each slot");

using thread_slot::kNone;

size_t TakeSlot() {
  uint64_t taken = taken_slots.load(std::memory_order_relaxed);
  while (~taken != 0) {
    const int lowest = std::countr_one(taken);
    if (taken_slots.compare_exchange_weak(taken, taken | uint64_t{1} << lowest,
                                          std::memory_order_relaxed)) {
      return static_cast<size_t>(lowest);
    }
  }
  return kNone;
}

// Gives the slot back when the thread ends.
struct SlotHolder {
  size_t slot = TakeSlot();

  SlotHolder() = default;
  SlotHolder(const SlotHolder&) = delete;
  SlotHolder& operator=(const SlotHolder&) = delete;
  ~SlotHolder() {
    if (slot == kNone) return;
    taken_slots.fetch_and(~(uint64_t{1} << slot), std::memory_order_relaxed);
  }
};

size_t Slot() {
  thread_local const SlotHolder holder;
  if (holder.slot != kNone) return holder.slot;
  // More threads than slots: shared ones, by the place of the thread's own memory.
  return reinterpret_cast<uintptr_t>(&holder) / 4096 % kThreadSlots;
}

}  // namespace

size_t thread_slot::FirstUse() { return own = Slot(); }

}  // namespace farcall
