// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_TRANSPORT_LOOP_DRIVE_WAIT_WORD_H_
#define FARCALL_TRANSPORT_LOOP_DRIVE_WAIT_WORD_H_

#include <atomic>
#include <cstdint>

namespace farcall {

// Sleeps while `word` is `value`, and sometimes wakes up earlier: to be asked again. futex(2).
void SleepWhile(const std::atomic<uint32_t>& word, uint32_t value);

// Wakes the thread that sleeps at this address. Nothing is read there: the word may be gone, as
// it is when its owner saw the change that it waited for without a sleep.
void WakeSleeper(const std::atomic<uint32_t>* word);

}  // namespace farcall

#endif  // FARCALL_TRANSPORT_LOOP_DRIVE_WAIT_WORD_H_
