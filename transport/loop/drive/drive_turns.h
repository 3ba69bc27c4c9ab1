// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_TRANSPORT_LOOP_DRIVE_DRIVE_TURNS_H_
#define FARCALL_TRANSPORT_LOOP_DRIVE_DRIVE_TURNS_H_

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <tuple>
#include <vector>

#include "transport/base/time.h"

namespace farcall {

class LoopVisitor;

// Who drives a loop: its own thread, or a visitor, a caller that waits for an answer from the loop.
//
//             ThreadGives                 Leave
//    thread ───────────────▶ visitor ───────────────▶ another visitor
//      ▲  │                   │  ▲  │                       or
//      │  │    GiveToThread   │  │  └─────────────────▶ none, for kRest at most
//      ├──┼───────────────────┘  └── Arrive ──────────────┘ │
//      │  └──────────────── ThreadGives ───────────▶ none   │
//      └─────────────────── ThreadWanted, ThreadLooks ──────┘
//
// Calls in a row find the drive free and need no other thread. A thread that has given the drive
// away is parked: it looks when it is notified, or when the time has come. Pure; one thread at a
// time. Visitors are names here, and never looked into.
class DriveTurns {
 public:
  // How long no thread drives at most, after a visitor or the thread gave the drive away; and how
  // soon after one call the next one comes where calls come in a row. Only what no caller waits for
  // is late by that: a peer that hangs up, a timer of a connection.
  static constexpr Duration kRest = std::chrono::milliseconds(1);

  // Who is to be notified: at most one.
  struct Notice {
    LoopVisitor* visitor = nullptr;  // that it drives now
    bool thread = false;             // to look
  };

  // --- Of a visitor whose call has not ended. True: it drives now. Else it waits, until it is
  // notified that it drives, or its call has ended and it is forgotten.
  bool Arrive(LoopVisitor& visitor, TimePoint now);
  // Whether it spins while it waits, so that it is notified first: it costs nothing. One at a time.
  void SetSpins(LoopVisitor& visitor, bool spins);
  // Its call has ended. Nothing, if it does not wait.
  void Forget(LoopVisitor& visitor);

  bool visitor_drives() const { return driver_ == Driver::kVisitor; }
  size_t waiting() const { return waiting_.size(); }

  // --- Of the visitor that drives. Whether it is to give the drive to the thread now.
  bool thread_wanted() const { return wanted_; }
  // Whether Leave has someone to notify, so that `rest` need not be known.
  bool AnyNext() const { return wanted_ || !waiting_.empty(); }
  // Its call has ended. `rest`: nothing on the loop needs a driver now; who adds to it from now on
  // calls ThreadWanted.
  Notice Leave(bool rest, TimePoint now);
  // There is work that only the thread does. The visitor waits.
  Notice GiveToThread(LoopVisitor& visitor);

  // --- Of the thread that drives, when the loop has no work for it.
  // Whether a visitor is there, or is expected.
  bool ThreadMayGive(TimePoint now) const;
  // Nothing: it keeps the drive. Else it is parked from now on; `rest` as above holds.
  std::optional<Notice> ThreadGives(TimePoint now);
  // --- Of the thread that is parked. Nothing: it drives now. Else until when it stays parked;
  // max(): until it is notified.
  std::optional<TimePoint> ThreadLooks(TimePoint now);

  // --- Of any thread: there is work where no thread drives, or did a moment ago.
  Notice ThreadWanted();

  // All that it remembers, for who compares: a model.
  auto State() const {
    return std::tuple(driver_, wanted_, for_good_, in_a_row_, spinning_, waiting_,
                      last_arrival_.time_since_epoch().count(), since_.time_since_epoch().count());
  }

 private:
  enum class Driver : uint8_t { kThread, kVisitor, kNone };

  Notice NotifyThread();
  Notice NotifyVisitor(TimePoint now);

  Driver driver_ = Driver::kThread;
  bool wanted_ = false;    // the thread gets the drive next
  bool for_good_ = false;  // the thread is parked until it is notified
  bool in_a_row_ = false;  // the last one came soon after the one before
  LoopVisitor* spinning_ = nullptr;
  std::vector<LoopVisitor*> waiting_;  // as they came
  TimePoint last_arrival_{};
  TimePoint since_{};  // when driver_ became what it is, unless that is the thread
};

}  // namespace farcall

#endif  // FARCALL_TRANSPORT_LOOP_DRIVE_DRIVE_TURNS_H_
