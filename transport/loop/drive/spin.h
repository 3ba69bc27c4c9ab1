// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_TRANSPORT_LOOP_DRIVE_SPIN_H_
#define FARCALL_TRANSPORT_LOOP_DRIVE_SPIN_H_

#include "transport/base/time.h"

namespace farcall {

// One turn of a spin: lets the other thread of the core, and the memory, have their way.
inline void SpinPause() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  // `yield` does nothing on cores of one thread; this waits for the instructions before it.
  __asm__ volatile("isb");
#endif
}

// Tries until it succeeds, for `most`: by time, since a pause takes a few nanoseconds on one
// processor and fifty on another. The first try costs no look at the clock. False: none succeeded.
template <typename Try>
bool SpinFor(const Clock& clock, Duration most, Try&& succeeds) {
  // A look at the clock costs as much as some tries.
  constexpr int kTriesPerLook = 16;
  TimePoint end{};
  for (int tries = 0;; ++tries) {
    if (succeeds()) return true;
    if (tries % kTriesPerLook == 0) {
      const TimePoint now = clock.Now();
      if (tries == 0) {
        end = now + most;
      } else if (now >= end) {
        return false;
      }
    }
    SpinPause();
  }
}

}  // namespace farcall

#endif  // FARCALL_TRANSPORT_LOOP_DRIVE_SPIN_H_
