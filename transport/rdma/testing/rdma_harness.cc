// SPDX-License-Identifier: Apache-2.0

#include "transport/rdma/testing/rdma_harness.h"

#include <utility>

#include "transport/base/check.h"
#include "transport/testing/run_on.h"

namespace farcall {
namespace {

// A connection attempt whose listener went away in the middle is ended by the kernel: siw waits
// 10 s for an answer, and 20 s for a request (docs/rdma.md).
constexpr Duration kAmple = std::chrono::seconds(30);
constexpr Duration kBetweenLooks = std::chrono::microseconds(200);
// Where nothing is under way any more, so many idle turns say so.
constexpr int kSettleTurns = 30;
// Things that happen outside in one turn of the loops.
constexpr int kOutside = 32;

}  // namespace

// Listen and Close wait for the control loop, which only the caller's thread drives.
class SteppedRdmaHarness::Listening final : public Transport {
 public:
  explicit Listening(SteppedRdmaHarness& harness) : harness_(harness) {}

  void Connect(EventLoop& loop, const Address& peer, const ConnectOptions& options,
               OnConnect done) override {
    harness_.rig().direct().Connect(loop, peer, options, std::move(done));
  }
  absl::StatusOr<std::unique_ptr<Listener>> Listen(LoopGroup& loops, const Address& address,
                                                   const ListenOptions& options,
                                                   OnAccept on_accept) override {
    harness_.DrainControl();
    auto listener = harness_.rig().direct().Listen(loops, address, options, std::move(on_accept));
    if (!listener.ok()) return listener;
    return std::make_unique<Drained>(harness_, *std::move(listener));
  }

 private:
  class Drained final : public Listener {
   public:
    Drained(SteppedRdmaHarness& harness, std::unique_ptr<Listener> listener)
        : harness_(harness), listener_(std::move(listener)) {}
    ~Drained() override { Close(); }
    const Address& address() const override { return listener_->address(); }
    void Close() override {
      harness_.DrainControl();
      listener_->Close();
    }

   private:
    SteppedRdmaHarness& harness_;
    const std::unique_ptr<Listener> listener_;
  };

  SteppedRdmaHarness& harness_;
};

SteppedRdmaHarness::SteppedRdmaHarness(const RdmaRigOptions& options, RdmaPlaces places,
                                       std::function<bool()> step)
    : places_(std::move(places)),
      step_(std::move(step)),
      rig_(options),
      listening_(std::make_unique<Listening>(*this)) {}

SteppedRdmaHarness::~SteppedRdmaHarness() { End(); }

void SteppedRdmaHarness::End() {
  Settle();
  rig_.End();
}

void SteppedRdmaHarness::Run(EventLoop& loop, absl::FunctionRef<void()> work) {
  // Tasks that wait come first.
  while (!loop.TryRun(work)) loop.RunOnce();
}

bool SteppedRdmaHarness::Until(absl::FunctionRef<bool()> done) {
  const SteadyClock clock;
  const TimePoint deadline = clock.Now() + kAmple;
  while (!done()) {
    if (clock.Now() > deadline) return false;
    if (!Step()) std::this_thread::yield();
  }
  return true;
}

void SteppedRdmaHarness::Settle() {
  for (int idle = 0; idle < kSettleTurns; ++idle) {
    if (Step()) idle = 0;
  }
}

bool SteppedRdmaHarness::Step() {
  bool worked = rig_.Step();
  for (int i = 0; step_ && i < kOutside && step_(); ++i) worked = true;
  return worked;
}

void SteppedRdmaHarness::DrainControl() {
  while (rig_.control().RunOnce()) {
  }
}

DrivenRdmaHarness::DrivenRdmaHarness(const RdmaRigOptions& options, RdmaPlaces places,
                                     std::function<bool()> step, PollingMode mode)
    : places_(std::move(places)), rig_(options) {
  const auto drive = [this](EventLoop& loop, PollingMode polling) {
    LoopDriverOptions driver_options;
    driver_options.polling.mode = polling;
    auto driver = LoopDriver::Start(loop, driver_options);
    Check(driver.ok(), "a test gets threads");
    drivers_.push_back(*std::move(driver));
  };
  for (size_t i = 0; i < loops().size(); ++i) drive(loops().at(i), mode);
  drive(rig_.control(), PollingMode::kEvent);
  if (!step) return;
  stepper_ = std::thread([this, step = std::move(step)] {
    while (!stop_) {
      while (step()) {
      }
      std::this_thread::sleep_for(kBetweenLooks);
    }
  });
}

DrivenRdmaHarness::~DrivenRdmaHarness() { End(); }

void DrivenRdmaHarness::End() {
  drivers_.clear();
  rig_.End();
  stop_ = true;
  if (stepper_.joinable()) stepper_.join();
}

void DrivenRdmaHarness::Run(EventLoop& loop, absl::FunctionRef<void()> work) { RunOn(loop, work); }

bool DrivenRdmaHarness::Until(absl::FunctionRef<bool()> done) {
  const SteadyClock clock;
  const TimePoint deadline = clock.Now() + kAmple;
  while (!done()) {
    if (clock.Now() > deadline) return false;
    std::this_thread::sleep_for(kBetweenLooks);
  }
  return true;
}

void DrivenRdmaHarness::Settle() {
  for (int i = 0; i < kSettleTurns; ++i) {
    for (size_t k = 0; k < loops().size(); ++k) Run(loops().at(k), [] {});
    Run(rig_.control(), [] {});
  }
}

}  // namespace farcall
