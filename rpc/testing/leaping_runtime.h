// SPDX-License-Identifier: Apache-2.0
//
// A runtime over real sockets whose time the test moves, so that nothing waits for a time-out and
// no time-out comes because the machine was busy.

#ifndef FARCALL_RPC_TESTING_LEAPING_RUNTIME_H_
#define FARCALL_RPC_TESTING_LEAPING_RUNTIME_H_

#include <atomic>
#include <chrono>
#include <memory>

#include "rpc/runtime/runtime.h"
#include "rpc/testing/eventually.h"
#include "rpc/testing/log_lines.h"
#include "transport/base/threads/in_flight.h"
#include "transport/base/time.h"
#include "transport/buffer/block_pool.h"
#include "transport/loop/drivers/blocking_threads.h"
#include "transport/loop/drivers/loop_driver.h"
#include "transport/loop/drivers/loop_monitor.h"
#include "transport/loop/event_loop.h"
#include "transport/loop/loop_group.h"
#include "transport/tcp/tcp_transport.h"
#include "transport/tls/tls_transport.h"

namespace farcall {

// CLOCK_MONOTONIC, and all leaps. Any thread.
class LeapingClock final : public Clock {
 public:
  TimePoint Now() const override {
    return std::chrono::steady_clock::now() + std::chrono::nanoseconds(leaps_.load());
  }
  void Leap(Duration by) { leaps_ += by.count(); }

 private:
  std::atomic<Duration::rep> leaps_{0};
};

// One loop; TCP, with or without TLS. Timers that are set after a leap fire at the next one that
// makes them due, however late that is.
class LeapingRuntime {
 public:
  LeapingRuntime();
  LeapingRuntime(const LeapingRuntime&) = delete;
  LeapingRuntime& operator=(const LeapingRuntime&) = delete;
  // As ~Runtime: waits for the channels' calls.
  ~LeapingRuntime();

  Runtime& operator*() { return *runtime_; }
  LogLines& log() { return log_; }
  // Bytes in blocks that somebody refers to.
  size_t used_bytes() const { return pool_->stats().used_bytes; }
  BlockPool& pool() { return *pool_; }
  // When it returns, the loop has seen the new time. From no thread of the runtime.
  void Leap(Duration by);
  // Leaps until `condition` holds, a second each time it looks. False: not in kTestTimeout.
  template <typename Condition>
  [[nodiscard]] bool LeapUntil(Condition&& condition) {
    return Eventually([&] {
      if (condition()) return true;
      Leap(std::chrono::seconds(1));
      return false;
    });
  }

 private:
  LogLines log_;
  LeapingClock clock_;
  InFlight sessions_;
  std::unique_ptr<BlockPool> pool_;
  TcpTransport tcp_;
  TlsTransport tls_;
  std::unique_ptr<EventLoop> loop_;
  LoopGroup group_;
  std::unique_ptr<LoopMonitor> monitor_;
  std::unique_ptr<LoopDriver> driver_;
  std::unique_ptr<BlockingThreads> blocking_;
  std::unique_ptr<Runtime> runtime_;
};

}  // namespace farcall

#endif  // FARCALL_RPC_TESTING_LEAPING_RUNTIME_H_
