// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_TRANSPORT_BASE_THREADS_THREAD_SLOT_H_
#define FARCALL_TRANSPORT_BASE_THREADS_THREAD_SLOT_H_

#include <cstddef>

namespace farcall {

// How many threads of the process can have a slot of their own at a time.
inline constexpr size_t kThreadSlots = 64;

// The calling thread's slot, below kThreadSlots, the same as long as it runs. Two
// threads have the same slot only when more than kThreadSlots run, or while one of them
// ends: it spreads load, and nothing may rely on it being unique. Threads that end
// give their slot to later ones, the lowest free one first, so few slots are in use.
inline size_t ThreadSlot();

// --- How.

namespace thread_slot {

inline constexpr size_t kNone = ~size_t{0};
// Without a destructor, so that blocks can still be dropped while the thread ends.
inline thread_local constinit size_t own = kNone;
size_t FirstUse();  // sets own

}  // namespace thread_slot

inline size_t ThreadSlot() {
  return thread_slot::own != thread_slot::kNone ? thread_slot::own : thread_slot::FirstUse();
}

}  // namespace farcall

#endif  // FARCALL_TRANSPORT_BASE_THREADS_THREAD_SLOT_H_
