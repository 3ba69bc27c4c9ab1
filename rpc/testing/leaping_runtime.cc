// SPDX-License-Identifier: Apache-2.0

#include "rpc/testing/leaping_runtime.h"

#include <functional>
#include <utility>

#include "absl/status/statusor.h"
#include "transport/base/check.h"
#include "transport/loop/loop_testing.h"
#include "transport/tls/tls_context.h"

namespace farcall {
namespace {

template <typename Part>
Part Got(absl::StatusOr<Part> part) {
  Check(part.ok(), "a test gets threads, descriptors and memory");
  return *std::move(part);
}

LoopDriverOptions WithoutSpinning() {
  LoopDriverOptions options;
  options.polling.mode = PollingMode::kEvent;
  return options;
}

}  // namespace

LeapingRuntime::LeapingRuntime()
    : pool_(Got(BlockPool::Create(BlockPoolOptions()))),
      tcp_(*pool_, nullptr),
      tls_(tcp_),
      loop_(Got(EventLoop::Create(clock_))),
      group_({loop_.get()}),
      monitor_(Got(LoopMonitor::Start(nullptr))),
      driver_(Got(LoopDriver::Start(*loop_, WithoutSpinning(), monitor_.get()))),
      blocking_(Got(BlockingThreads::Start(1))) {
  RuntimeParts parts;
  parts.clock = &clock_;
  parts.loops = &group_;
  parts.transport = &tls_;
  parts.pool = pool_.get();
  parts.run_blocking = [this](std::function<void()> work) {
    return blocking_->Post(std::move(work));
  };
  parts.client_tls = [](const ClientTlsOptions& tls) { return LoadTls(tls, nullptr); };
  parts.server_tls = [](const ServerTlsOptions& tls) { return LoadTls(tls, nullptr); };
  parts.log = log_.Sink();
  parts.sessions = &sessions_;
  runtime_ = Runtime::On(std::move(parts));
}

LeapingRuntime::~LeapingRuntime() {
  runtime_.reset();
  Check(sessions_.WaitForNone(kTestTimeout) == 0, "calls of destroyed channels end");
}

void LeapingRuntime::Leap(Duration by) {
  clock_.Leap(by);
  // The second task runs in a turn after one that has run the timers.
  for (int i = 0; i < 2; ++i) {
    TestEvent seen;
    loop_->Post([&seen] { seen.Signal(); });
    Check(seen.Wait(), "a loop turns");
  }
}

}  // namespace farcall
