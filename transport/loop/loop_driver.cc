// SPDX-License-Identifier: Apache-2.0

#include "transport/loop/loop_driver.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "transport/base/cores.h"
#include "transport/base/thread.h"
#include "transport/loop/blocking.h"
#include "transport/loop/wait_for_work.h"

namespace farcall {
namespace {

// Turns that a stopping driver may still take for what is queued.
constexpr int kLastTurns = 10'000;

}  // namespace

absl::Status LoopDriverOptions::Validate() const {
  if (max_spares < 1 || max_spares > 1024) {
    return absl::InvalidArgumentError(
        absl::StrCat("max_spares must be 1 to 1024, not ", max_spares));
  }
  if (flush_after < Duration(0) || flush_after > std::chrono::milliseconds(10)) {
    return absl::InvalidArgumentError("flush_after must be 0 to 10 ms");
  }
  if (cpu && !MayRunOn(*cpu)) {
    return absl::InvalidArgumentError(
        absl::StrCat("cpu ", *cpu, " is none that this process may run on (taskset -p $$)"));
  }
  return polling.Validate();
}

// A thread's part in driving a loop. Only its own thread touches it.
class LoopDriver::Seat final : public BlockingHook {
 public:
  explicit Seat(LoopDriver& driver) : driver_(driver) {}

  bool driving() const { return driving_; }
  void Take() { driving_ = true; }

  // From user code that is about to wait.
  bool BeforeBlocking() override {
    // In a child of fork(2) this thread is its only one, and drives nothing.
    if (!driving_ || !driver_.loop_.process().here()) return true;
    // What this thread wrote so far would otherwise wait for the end of its turn.
    driver_.loop_.FlushAll();
    if (!driver_.PassOn()) return false;
    EventLoop::SetDriven(nullptr);
    driving_ = false;
    return true;
  }

 private:
  LoopDriver& driver_;
  bool driving_ = false;
};

absl::StatusOr<std::unique_ptr<LoopDriver>> LoopDriver::Start(EventLoop& loop,
                                                              const LoopDriverOptions& options) {
  if (absl::Status status = options.Validate(); !status.ok()) return status;
  loop.drive().SetPolling(options.polling);
  std::unique_ptr<LoopDriver> driver(new LoopDriver(loop, options));
  std::unique_lock<std::mutex> lock(driver->mutex_);
  absl::Status status = driver->AddThread();
  lock.unlock();
  if (!status.ok()) return status;
  return driver;
}

LoopDriver::~LoopDriver() {
  stop_.store(true);
  loop_.drive().WantThread();
  loop_.Post([] {});  // ends its sleep
  for (;;) {
    std::unique_lock<std::mutex> lock(mutex_);
    if (threads_.empty()) return;
    std::thread thread = std::move(threads_.back());
    threads_.pop_back();
    lock.unlock();
    thread.join();
  }
}

absl::Status LoopDriver::AddThread() {
  auto thread = StartThread("farcall-loop", [this] { ThreadMain(); });
  if (!thread.ok()) return thread.status();
  threads_.push_back(*std::move(thread));
  ++standing_by_;
  return absl::OkStatus();
}

void LoopDriver::ThreadMain() {
  // If it was taken away meanwhile the thread runs elsewhere, only slower.
  if (options_.cpu) static_cast<void>(PinThisThread(*options_.cpu));
  Seat seat(*this);
  std::unique_lock<std::mutex> lock(mutex_);
  for (;;) {
    wanted_.wait(lock, [this] { return drive_free_; });
    drive_free_ = false;
    --standing_by_;
    lock.unlock();
    seat.Take();
    Drive(seat);
    lock.lock();
    if (seat.driving()) break;
    --away_;
    ++standing_by_;
    // A driver that stops waits for the last one to come back.
    if (away_ == 0 && stop_.load(std::memory_order_relaxed)) loop_.Post([] {});
  }
  // Stopping. Each thread takes the drive once more, so that nothing stays behind.
  drive_free_ = true;
  wanted_.notify_one();
}

void LoopDriver::Drive(Seat& seat) {
  for (int last_turns = 0; last_turns < kLastTurns;) {
    if (loop_.Turn()) {
      const TimePoint found = loop_.clock().Now();
      RunUserCode(seat, found);
      if (!seat.driving()) return;
      loop_.FlushAll();
      spin_.OnWork(found, loop_.clock().Now());
      if (Stopping()) {
        ++last_turns;
        continue;
      }
      loop_.drive().GiveAway(loop_);
    } else {
      if (Stopping()) return;
      if (loop_.drive().GiveAway(loop_)) continue;
      WaitForWork(loop_, spin_, [] { return false; });
    }
  }
}

bool LoopDriver::Stopping() {
  if (!stop_.load(std::memory_order_relaxed)) return false;
  std::lock_guard<std::mutex> lock(mutex_);
  return away_ == 0;
}

void LoopDriver::RunUserCode(Seat& seat, TimePoint began) {
  EventLoop::SetDriven(&loop_);
  SetBlockingHook(&seat);
  while (UserTask* const task = loop_.TakeUser()) {
    task->Run();
    if (!seat.driving()) break;
    // The rest belongs to the next turn. A driver that stops has few left.
    const bool over = loop_.clock().Now() - began >= options_.flush_after;
    if (over && !stop_.load(std::memory_order_relaxed)) break;
  }
  SetBlockingHook(nullptr);
  EventLoop::SetDriven(nullptr);
}

bool LoopDriver::PassOn() {
  std::lock_guard<std::mutex> lock(mutex_);
  if (standing_by_ == 0) {
    if (away_ >= options_.max_spares || !AddThread().ok()) return false;
  }
  ++away_;
  drive_free_ = true;
  wanted_.notify_one();
  return true;
}

}  // namespace farcall
