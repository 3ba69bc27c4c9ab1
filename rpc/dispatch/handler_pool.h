// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_RPC_DISPATCH_HANDLER_POOL_H_
#define FARCALL_RPC_DISPATCH_HANDLER_POOL_H_

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "absl/status/status.h"
#include "transport/base/host/cores.h"
#include "transport/loop/queues/user_queue.h"

namespace farcall {

// Threads that run handlers, so that one that blocks holds up no loop. They are started as they are
// wanted. First in, first out. While handlers wait, at most one thread is on its way to them. It
// calls the next one before it runs its handler: so each handler that blocks gets a thread, and
// where handlers are short, one thread runs many and few are woken. Who submits bounds how much
// waits: a server by its limits on concurrency. They run on the processors of the thread that makes
// the pool: the loops that start them may run on fewer.
class HandlerPool {
 public:
  // `most`: handlers that run at once. `spares`: threads beside them, for as many handlers that
  // wait in synchronous calls, and do not count as running; more fail instead of waiting. 0: such a
  // handler keeps its thread and its place.
  explicit HandlerPool(int most, int spares = 0) : most_(most), spares_(spares) {}
  HandlerPool(const HandlerPool&) = delete;
  HandlerPool& operator=(const HandlerPool&) = delete;
  // Calls Stop.
  ~HandlerPool();

  // Runs what was submitted, then waits for the threads. Not from one of them, and not from two
  // threads at once. Once it has returned, waiting() and idle() may still be asked, and nothing may
  // be submitted.
  void Stop();

  // --- Any thread.

  // All `most` threads at once. kResourceExhausted when the system gives fewer.
  absl::Status StartAll();
  // Whether a thread is called to a task at once, or by CallThread, when more are there: a thread
  // that is woken for the first one would run it, and sleep before the next one comes.
  enum class Calling : bool { kLater, kNow };
  // `task` owns itself. Returns how many wait for a thread, this one among them; null: it was not
  // taken, as there is no thread and the system gives none.
  std::optional<size_t> Submit(UserTask& task, Calling calling = Calling::kNow);
  void CallThread();
  // A handler runs elsewhere, and counts as one that runs here: as many fewer begin.
  void BeginElsewhere();
  void EndElsewhere();
  int most() const { return most_; }
  size_t waiting() const { return waiting_.load(std::memory_order_relaxed); }
  // Threads that have nothing to do.
  int idle() const;

 private:
  class Hook;

  void Run();
  absl::Status BeforeBlocking(Hook& hook);
  // With mutex_ held.
  bool MayBegin() const { return busy_ - blocked_ + elsewhere_ < most_; }
  absl::Status AddThread();
  void CallOne();
  UserTask* Pop();

  const int most_;
  const int spares_;
  const std::vector<int> cpus_ = AllowedCpus();
  mutable std::mutex mutex_;
  std::condition_variable wake_;
  std::atomic<size_t> waiting_ = 0;  // queue_.size()
  // Guarded by mutex_.
  UserQueue queue_;
  int busy_ = 0;       // threads that run a handler
  int blocked_ = 0;    // those of them that wait in a synchronous call
  int elsewhere_ = 0;  // handlers that run on no thread of this
  int starting_ = 0;   // threads that have yet to look for a task
  int woken_ = 0;      // idle ones that will look for one
  int idle_ = 0;
  bool stop_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace farcall

#endif  // FARCALL_RPC_DISPATCH_HANDLER_POOL_H_
