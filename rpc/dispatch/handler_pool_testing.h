// SPDX-License-Identifier: Apache-2.0
//
// For tests of pools of handler threads.

#ifndef FARCALL_RPC_DISPATCH_HANDLER_POOL_TESTING_H_
#define FARCALL_RPC_DISPATCH_HANDLER_POOL_TESTING_H_

#include <gtest/gtest.h>

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <utility>

#include "rpc/dispatch/handler_pool.h"

namespace farcall {

// A task that owns itself, as handlers do.
class PoolTask final : public UserTask {
 public:
  // Returns how many wait.
  static size_t Submit(HandlerPool& pool, std::function<void()> run,
                       HandlerPool::Calling calling = HandlerPool::Calling::kNow) {
    const std::optional<size_t> waiting = pool.Submit(*new PoolTask(std::move(run)), calling);
    EXPECT_TRUE(waiting.has_value()) << "the system gives a thread";
    return waiting.value_or(0);
  }
  static void SubmitLater(HandlerPool& pool, std::function<void()> run) {
    Submit(pool, std::move(run), HandlerPool::Calling::kLater);
  }
  void Run() override {
    run_();
    delete this;
  }

 private:
  explicit PoolTask(std::function<void()> run) : run_(std::move(run)) {}

  const std::function<void()> run_;
};

inline std::unique_ptr<HandlerPool> StartPool(int threads, int spares = 0) {
  return std::make_unique<HandlerPool>(threads, spares);
}

}  // namespace farcall

#endif  // FARCALL_RPC_DISPATCH_HANDLER_POOL_TESTING_H_
