// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_RPC_DISPATCH_HANDLER_POOL_H_
#define FARCALL_RPC_DISPATCH_HANDLER_POOL_H_

#include <condition_variable>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "absl/status/statusor.h"
#include "transport/loop/user_queue.h"

namespace farcall {

// Threads that run handlers, so that one that blocks holds up no loop. First in, first
// out. Who submits bounds how much waits: a server by its limits on concurrency.
class HandlerPool {
 public:
  static absl::StatusOr<std::unique_ptr<HandlerPool>> Start(int threads);
  HandlerPool(const HandlerPool&) = delete;
  HandlerPool& operator=(const HandlerPool&) = delete;
  // Runs what was submitted, then waits for the threads. Not from one of them.
  ~HandlerPool();

  // Any thread. `task` owns itself.
  void Submit(UserTask& task);
  int threads() const { return static_cast<int>(threads_.size()); }

 private:
  HandlerPool() = default;
  void Run();

  std::mutex mutex_;
  std::condition_variable wake_;
  // Guarded by mutex_.
  UserQueue queue_;
  int idle_ = 0;
  bool stop_ = false;

  std::vector<std::thread> threads_;
};

}  // namespace farcall

#endif  // FARCALL_RPC_DISPATCH_HANDLER_POOL_H_
