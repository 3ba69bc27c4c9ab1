// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_RPC_TESTING_EVENTUALLY_H_
#define FARCALL_RPC_TESTING_EVENTUALLY_H_

#include <chrono>
#include <thread>

#include "transport/loop/loop_testing.h"

namespace farcall {

// Polls a condition that is not signalled. False: it did not become true
// within `timeout`.
template <typename Condition>
[[nodiscard]] bool Eventually(Condition&& condition, Duration timeout = kTestTimeout) {
  const auto deadline = std::chrono::steady_clock::now() + timeout;
  while (!condition()) {
    if (std::chrono::steady_clock::now() > deadline) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return true;
}

}  // namespace farcall

#endif  // FARCALL_RPC_TESTING_EVENTUALLY_H_
