// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_TRANSPORT_LOOP_DRIVERS_LOOP_DRIVER_H_
#define FARCALL_TRANSPORT_LOOP_DRIVERS_LOOP_DRIVER_H_

#include <atomic>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "transport/base/threads/thread_place.h"
#include "transport/loop/drive/polling.h"
#include "transport/loop/event_loop.h"

namespace farcall {

class LoopMonitor;

struct LoopDriverOptions {
  PollingOptions polling;
  // Threads that may stand by or wait inside user code beside the one that drives. 1 to 1024.
  int max_spares = 64;
  // After how much time in user code the turn ends: what was written so far is sent, and
  // descriptors and timers are looked at before the next piece runs. 0 to 10 ms. Long
  // turns make client and server wait for each other in turn instead of working at once.
  Duration flush_after = std::chrono::microseconds(20);
  // Where its threads run; outlives the driver. Null: where the thread may that starts them.
  ThreadPlace* place = nullptr;

  absl::Status Validate() const;
};

// Gives a loop its threads: one drives it; when user code on that thread is about to block, or a
// monitor sees it run for long, a spare one takes over, and the first becomes a spare once it is
// back.
class LoopDriver {
 public:
  // Starts one thread. `loop` outlives the driver, as does `monitor` (null: no check whether
  // user code runs for long).
  static absl::StatusOr<std::unique_ptr<LoopDriver>> Start(EventLoop& loop,
                                                           const LoopDriverOptions& options,
                                                           LoopMonitor* monitor = nullptr);
  LoopDriver(const LoopDriver&) = delete;
  LoopDriver& operator=(const LoopDriver&) = delete;
  // Runs what is queued, then ends the threads and waits for them. The loop is driven on
  // until all have come back from user code, which may wait for this very loop. Not
  // from one of them.
  ~LoopDriver();

  // --- For its monitor, one thread at a time.

  struct Seen {
    ClaimLook::Seen what = ClaimLook::Seen::kQuiet;
    bool taken_over = false;
    // kResourceExhausted: it runs for long, and no thread can take over; once for each piece.
    absl::Status stalled;
    std::string name;  // of the code that was taken over or stalls; "": it has none
  };
  // A piece that ran at the last look already is driven past.
  Seen Look();
  // Nothing has happened since a look that saw kQuiet.
  bool StillQuiet() { return loop_.StillIn(look_.last()); }

 private:
  class Seat;

  LoopDriver(EventLoop& loop, const LoopDriverOptions& options, LoopMonitor* monitor)
      : loop_(loop), options_(options), monitor_(monitor), spin_(options.polling) {}
  absl::Status AddThread();
  void ThreadMain();
  void JoinAll();
  // Both return when the seat has lost the drive or the driver stops.
  void DriveOn(Seat& seat);
  void RunUserCode(Seat& seat, TimePoint began);
  bool Stopping();
  // Both with mutex_ held. Makes sure that a thread stands by; kResourceExhausted: none can.
  absl::Status SecureSpare();
  // Takes the drive from the thread that runs `piece`; false: it was taken from that one before.
  absl::StatusOr<bool> PassOn(DriverClaim::Piece piece);

  EventLoop& loop_;
  const LoopDriverOptions options_;
  LoopMonitor* const monitor_;
  ClaimLook look_;                  // the monitor's
  DriverClaim::Piece stalled_ = 0;  // the last that was reported
  std::atomic<bool> stop_{false};
  AdaptiveSpin spin_;  // of whoever drives

  std::mutex mutex_;
  std::condition_variable wanted_;
  // Guarded by mutex_. Each thread drives, stands by, or is away.
  bool drive_free_ = true;  // no thread drives
  Seat* seat_ = nullptr;    // who took the drive last
  int standing_by_ = 0;     // threads that wait for the drive or are about to
  int away_ = 0;            // threads in user code that have lost the drive
  std::vector<std::thread> threads_;
};

}  // namespace farcall

#endif  // FARCALL_TRANSPORT_LOOP_DRIVERS_LOOP_DRIVER_H_
