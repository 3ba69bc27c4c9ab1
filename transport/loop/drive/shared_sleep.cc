// SPDX-License-Identifier: Apache-2.0

#include "transport/loop/drive/shared_sleep.h"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <climits>

namespace farcall {

static_assert(sizeof(std::atomic<uint32_t>) == sizeof(uint32_t));

uint32_t SharedSleep::NextBit() {
  return uint32_t{1} << (bits_.fetch_add(1, std::memory_order_relaxed) % 32);
}

void SharedSleep::Sleep(uint32_t seen, uint32_t bit) const {
  ::syscall(SYS_futex, &wakes_, FUTEX_WAIT_BITSET_PRIVATE, seen, nullptr, nullptr, bit);
}

void SharedSleep::Wake(uint32_t bits) {
  wakes_.fetch_add(1, std::memory_order_release);
  ::syscall(SYS_futex, &wakes_, FUTEX_WAKE_BITSET_PRIVATE, INT_MAX, nullptr, nullptr, bits);
}

}  // namespace farcall
