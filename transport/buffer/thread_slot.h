// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_TRANSPORT_BUFFER_THREAD_SLOT_H_
#define FARCALL_TRANSPORT_BUFFER_THREAD_SLOT_H_

#include <cstddef>

namespace farcall {

// How many threads of the process can have a slot of their own at a time.
inline constexpr size_t kThreadSlots = 64;

// The calling thread's slot, below kThreadSlots, the same as long as it runs. Two
// threads have the same slot only when more than kThreadSlots run, or while one of them
// ends: it spreads load, and nothing may rely on it being unique. Threads that end
// give their slot to later ones, the lowest free one first, so few slots are in use.
size_t ThreadSlot();

}  // namespace farcall

#endif  // FARCALL_TRANSPORT_BUFFER_THREAD_SLOT_H_
