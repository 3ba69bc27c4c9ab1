// SPDX-License-Identifier: Apache-2.0

#include "transport/loop/drive/wait_word.h"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace farcall {

static_assert(sizeof(std::atomic<uint32_t>) == sizeof(uint32_t));

void SleepWhile(const std::atomic<uint32_t>& word, uint32_t value) {
  ::syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, value, nullptr, nullptr, 0);
}

void WakeSleeper(const std::atomic<uint32_t>* word) {
  ::syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, 1, nullptr, nullptr, 0);
}

}  // namespace farcall
