// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_TRANSPORT_LOOP_LOOP_DRIVER_H_
#define FARCALL_TRANSPORT_LOOP_LOOP_DRIVER_H_

#include <atomic>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "transport/loop/event_loop.h"
#include "transport/loop/polling.h"

namespace farcall {

struct LoopDriverOptions {
  PollingOptions polling;
  // Threads that may stand by or wait inside user code beside the one that drives. 1 to 1024.
  int max_spares = 64;
  // After how much time in user code the turn ends: what was written so far is sent, and
  // descriptors and timers are looked at before the next piece runs. 0 to 10 ms. Long
  // turns make client and server wait for each other in turn instead of working at once.
  Duration flush_after = std::chrono::microseconds(20);
  // The only processor that its threads run on, a number as in /proc/cpuinfo. None: those that
  // the thread may use that starts them.
  std::optional<int> cpu;

  // kInvalidArgument also for a `cpu` that the calling thread may not use.
  absl::Status Validate() const;
};

// Gives a loop its threads: one drives it; when user code on that thread is about
// to block, a spare one takes over, and the first becomes a spare once it is back.
class LoopDriver {
 public:
  // Starts one thread. `loop` outlives the driver.
  static absl::StatusOr<std::unique_ptr<LoopDriver>> Start(EventLoop& loop,
                                                           const LoopDriverOptions& options);
  LoopDriver(const LoopDriver&) = delete;
  LoopDriver& operator=(const LoopDriver&) = delete;
  // Runs what is queued, then ends the threads and waits for them. The loop is driven on
  // until all have come back from user code, which may wait for this very loop. Not
  // from one of them.
  ~LoopDriver();

 private:
  class Seat;

  LoopDriver(EventLoop& loop, const LoopDriverOptions& options)
      : loop_(loop), options_(options), spin_(options.polling) {}
  absl::Status AddThread();
  void ThreadMain();
  // Both return when the seat has lost the drive or the driver stops.
  void Drive(Seat& seat);
  void RunUserCode(Seat& seat, TimePoint began);
  bool Stopping();
  bool PassOn();

  EventLoop& loop_;
  const LoopDriverOptions options_;
  std::atomic<bool> stop_{false};
  AdaptiveSpin spin_;  // of whoever drives

  std::mutex mutex_;
  std::condition_variable wanted_;
  // Guarded by mutex_. Each thread drives, stands by, or is away.
  bool drive_free_ = true;  // nobody drives
  int standing_by_ = 0;     // threads that wait for the drive or are about to
  int away_ = 0;            // threads in user code that have passed the drive on
  std::vector<std::thread> threads_;
};

}  // namespace farcall

#endif  // FARCALL_TRANSPORT_LOOP_LOOP_DRIVER_H_
