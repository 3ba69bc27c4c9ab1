// SPDX-License-Identifier: Apache-2.0

#include "transport/loop/drivers/loop_driver.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "transport/base/threads/thread.h"
#include "transport/loop/drive/blocking.h"
#include "transport/loop/drivers/loop_monitor.h"
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
  return polling.Validate();
}

// A thread's part in driving a loop. Only its own thread touches it, but for what is watched.
class LoopDriver::Seat final : public BlockingHook {
 public:
  explicit Seat(LoopDriver& driver) : driver_(driver) {}

  // False also while another one drives already, which this one has yet to find out.
  bool driving() const { return driving_; }
  void Take() { driving_ = true; }
  void Lose() { driving_ = false; }

  // From user code that is about to wait.
  absl::Status BeforeBlocking() override {
    // In a child of fork(2) this thread is its only one, and drives nothing.
    if (!driving_ || !driver_.loop_.process().here()) return absl::OkStatus();
    // What this thread wrote so far would otherwise wait for the end of its turn.
    driver_.loop_.FlushAll();
    std::lock_guard<std::mutex> lock(driver_.mutex_);
    if (const auto passed = driver_.PassOn(piece); !passed.ok()) return passed.status();
    Lose();
    return absl::OkStatus();
  }

  DriverClaim::Piece piece = 0;  // that it runs

 private:
  LoopDriver& driver_;
  bool driving_ = false;
};

absl::StatusOr<std::unique_ptr<LoopDriver>> LoopDriver::Start(EventLoop& loop,
                                                              const LoopDriverOptions& options,
                                                              LoopMonitor* monitor) {
  if (absl::Status status = options.Validate(); !status.ok()) return status;
  loop.drive().SetPolling(options.polling);
  std::unique_ptr<LoopDriver> driver(new LoopDriver(loop, options, monitor));
  std::unique_lock<std::mutex> lock(driver->mutex_);
  absl::Status status = driver->AddThread();
  lock.unlock();
  if (!status.ok()) return status;
  if (monitor != nullptr) monitor->Add(*driver);
  return driver;
}

LoopDriver::~LoopDriver() {
  stop_.store(true);
  loop_.drive().WantThread();
  loop_.Post([] {});  // ends its sleep
  JoinAll();
  if (monitor_ == nullptr) return;
  monitor_->Remove(*this);
  // It may have added a thread for user code that has come back meanwhile.
  JoinAll();
}

void LoopDriver::JoinAll() {
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
  std::optional<ThreadPlace::Stay> stay;
  if (options_.place != nullptr) stay.emplace(*options_.place);
  Seat seat(*this);
  std::unique_lock<std::mutex> lock(mutex_);
  for (;;) {
    wanted_.wait(lock, [this] { return drive_free_; });
    drive_free_ = false;
    seat_ = &seat;
    --standing_by_;
    lock.unlock();
    seat.Take();
    DriveOn(seat);
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

void LoopDriver::DriveOn(Seat& seat) {
  // What the last driver wrote before it lost the drive.
  loop_.FlushAll();
  for (int last_turns = 0; last_turns < kLastTurns;) {
    // Asked before the turn, which then finds all that was posted before the driver was stopped.
    const bool stopping = Stopping();
    if (loop_.Turn()) {
      const TimePoint found = loop_.clock().Now();
      RunUserCode(seat, found);
      if (seat.driving() && !loop_.EndTurn(seat.piece)) seat.Lose();
      if (!seat.driving()) return;
      spin_.OnWork(found, loop_.clock().Now());
      if (stopping) {
        ++last_turns;
        continue;
      }
      loop_.drive().GiveAway(loop_);
    } else {
      if (stopping) return;
      if (loop_.drive().GiveAway(loop_)) continue;
      WaitForWork(loop_, spin_, [] { return false; });
    }
  }
}

bool LoopDriver::Stopping() {
  // Acquire: the turn that follows sees what was posted before it was set.
  if (!stop_.load(std::memory_order_acquire)) return false;
  std::lock_guard<std::mutex> lock(mutex_);
  return away_ == 0;
}

void LoopDriver::RunUserCode(Seat& seat, TimePoint began) {
  SetBlockingHook(&seat);
  seat.piece = 0;
  while (UserTask* const task = loop_.TakeUser(seat.piece)) {
    if (monitor_ != nullptr) monitor_->OnUserCode();
    task->Run();
    if (!seat.driving()) break;
    // The rest belongs to the next turn. A driver that stops has few left.
    const bool over = loop_.clock().Now() - began >= options_.flush_after;
    if (over && !stop_.load(std::memory_order_relaxed)) break;
  }
  SetBlockingHook(nullptr);
}

absl::Status LoopDriver::SecureSpare() {
  if (standing_by_ > 0) return absl::OkStatus();
  if (away_ < options_.max_spares) return AddThread();
  return absl::ResourceExhaustedError(
      absl::StrCat("closures and handlers that wait or run for long have ", away_,
                   " threads of the loop, as many as RuntimeOptions::max_blocked_threads allows"));
}

absl::StatusOr<bool> LoopDriver::PassOn(DriverClaim::Piece piece) {
  if (loop_.claim_state() != piece) return false;
  if (absl::Status spare = SecureSpare(); !spare.ok()) return spare;
  if (!loop_.TakeDrive(piece)) return false;
  ++away_;
  drive_free_ = true;
  wanted_.notify_one();
  return true;
}

LoopDriver::Seen LoopDriver::Look() {
  const DriverClaim::Piece state = loop_.claim_state();
  Seen seen;
  seen.what = look_.Look(state);
  if (seen.what != ClaimLook::Seen::kLong) return seen;
  std::lock_guard<std::mutex> lock(mutex_);
  const absl::StatusOr<bool> passed = PassOn(state);
  seen.taken_over = passed.ok() && *passed;
  if (!passed.ok() && std::exchange(stalled_, state) != state) seen.stalled = passed.status();
  // The seat is there at least until its thread has this mutex.
  if (seen.taken_over || !seen.stalled.ok()) seen.name = seat_->watched.TakeName();
  return seen;
}

}  // namespace farcall
