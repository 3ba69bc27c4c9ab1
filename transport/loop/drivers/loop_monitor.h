// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_TRANSPORT_LOOP_DRIVERS_LOOP_MONITOR_H_
#define FARCALL_TRANSPORT_LOOP_DRIVERS_LOOP_MONITOR_H_

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "absl/functional/any_invocable.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "transport/base/time.h"

namespace farcall {

class LoopDriver;

// Looks now and then whether user code keeps a thread from driving its loop, and gives the drive to
// a spare one: what ran at one look still runs at the next. One thread for all loops, which sleeps
// while none has user code: who runs the first piece after that wakes it.
class LoopMonitor {
 public:
  // Between two looks; longer after so many of which none found user code that runs for long, since
  // a look delays the call that it meets by twice what it takes.
  static constexpr Duration kBound = std::chrono::milliseconds(1);
  static constexpr Duration kCalmBound = std::chrono::milliseconds(4);
  static constexpr int kCalmLooks = 64;
  // Of user code that stalls its loop: its name, or "", and why no thread takes over. At most once
  // in kLogEvery.
  static constexpr Duration kLogEvery = std::chrono::seconds(10);
  using OnStall = absl::AnyInvocable<void(absl::string_view name, const absl::Status& why)>;

  // Starts its thread.
  static absl::StatusOr<std::unique_ptr<LoopMonitor>> Start(OnStall on_stall);
  // Without a thread of its own: the caller looks.
  explicit LoopMonitor(OnStall on_stall) : on_stall_(std::move(on_stall)) {}
  LoopMonitor(const LoopMonitor&) = delete;
  LoopMonitor& operator=(const LoopMonitor&) = delete;
  // After the drivers.
  ~LoopMonitor();

  // --- Any thread.

  struct Counts {
    uint64_t taken_over = 0;  // drives, from user code that ran for long
    uint64_t stalled = 0;     // pieces of user code that ran for long where none took over
  };
  Counts counts() const;
  bool asleep() const { return asleep_.load(std::memory_order_relaxed); }

  // --- For drivers. Add and Remove may wait for a look.

  void Add(LoopDriver& driver);
  void Remove(LoopDriver& driver);
  // A piece of user code begins, and the loop's drive says so already.
  void OnUserCode() {
    if (asleep_.load(std::memory_order_relaxed)) Wake();
  }

  // --- Who looks: its thread, or a test.

  // False: no loop has user code, nor had since the last look.
  bool Look();
  // Until the next look.
  Duration pause() const { return calm_looks_ < kCalmLooks ? kBound : kCalmBound; }
  // Agrees to sleep: false if user code has begun. From now on whoever runs some wakes it.
  bool PrepareSleep();

 private:
  void Run();
  void Sleep();
  void Wake();

  OnStall on_stall_;
  std::atomic<bool> asleep_{false};
  std::atomic<uint64_t> taken_over_{0};
  std::atomic<uint64_t> stalled_{0};

  std::mutex drivers_mutex_;  // held while it looks
  std::vector<LoopDriver*> drivers_;
  int calm_looks_ = 0;    // since one found user code that ran for long; of who looks
  TimePoint next_log_{};  // not before

  std::mutex mutex_;
  std::condition_variable wake_;
  // Guarded by mutex_.
  bool woken_ = false;
  bool stop_ = false;

  std::thread thread_;
};

}  // namespace farcall

#endif  // FARCALL_TRANSPORT_LOOP_DRIVERS_LOOP_MONITOR_H_
