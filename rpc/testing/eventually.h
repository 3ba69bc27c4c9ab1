// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_RPC_TESTING_EVENTUALLY_H_
#define FARCALL_RPC_TESTING_EVENTUALLY_H_

#include <chrono>
#include <thread>

#include "transport/loop/loop_testing.h"

namespace farcall {

// Waits for what nobody signals, looking again and again. False: it did not become true
// within `patience`.
template <typename Condition>
[[nodiscard]] bool Eventually(Condition&& condition, Duration patience = kTestPatience) {
  const auto deadline = std::chrono::steady_clock::now() + patience;
  while (!condition()) {
    if (std::chrono::steady_clock::now() > deadline) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return true;
}

}  // namespace farcall

#endif  // FARCALL_RPC_TESTING_EVENTUALLY_H_
