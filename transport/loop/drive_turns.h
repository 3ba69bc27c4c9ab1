// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_TRANSPORT_LOOP_DRIVE_TURNS_H_
#define FARCALL_TRANSPORT_LOOP_DRIVE_TURNS_H_

#include <chrono>
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
//      │  │    GiveToThread   │  │  └─────────────────▶ nobody, for kRest at most
//      ├──┼───────────────────┘  └── Arrive ──────────────┘ │
//      │  └──────────────── ThreadGives ───────────▶ nobody │
//      └─────────────────── ThreadWanted, ThreadLooks ──────┘
//
// Calls in a row find the drive free and need no other thread. A thread that has given the drive
// away is parked: it looks when it is told to, or when the time has come. Pure; one thread at a
// time. Visitors are names here, and never looked into.
class DriveTurns {
 public:
  // How long nobody drives at most, after a visitor or the thread had the drive and gave it to
  // nobody; and how soon after one call the next one comes where calls come in a row. What waits so
  // long is what nobody waits for: a peer that hangs up, a timer of a connection.
  static constexpr Duration kRest = std::chrono::milliseconds(1);

  // Who is to be told: at most one.
  struct Told {
    LoopVisitor* visitor = nullptr;  // that it drives now
    bool thread = false;             // to look
  };

  // --- Of a visitor whose call has not ended. True: it drives now. Else it waits, until it is told
  // that it drives or its call has ended, and is forgotten.
  bool Arrive(LoopVisitor& visitor, TimePoint now);
  // Whether it spins while it waits, so that it is told first: it costs nothing. One at a time.
  void SetSpins(LoopVisitor& visitor, bool spins);
  // Its call has ended. Nothing, if it does not wait.
  void Forget(LoopVisitor& visitor);

  // --- Of the visitor that drives. Whether it is to give the drive to the thread now.
  bool thread_wanted() const { return wanted_; }
  // Whether Leave has somebody to tell, so that `rest` need not be known.
  bool AnyNext() const { return wanted_ || !waiting_.empty(); }
  // Its call has ended. `rest`: nothing on the loop needs a driver now; who adds to it from now on
  // calls ThreadWanted.
  Told Leave(bool rest, TimePoint now);
  // There is work that only the thread does. The visitor waits.
  Told GiveToThread(LoopVisitor& visitor);

  // --- Of the thread that drives, when the loop has no work for it.
  // Whether a visitor is there, or is expected.
  bool ThreadMayGive(TimePoint now) const;
  // Nothing: it keeps the drive. Else it is parked from now on; `rest` as above holds.
  std::optional<Told> ThreadGives(TimePoint now);
  // --- Of the thread that is parked. Nothing: it drives now. Else until when it stays parked;
  // max(): until it is told.
  std::optional<TimePoint> ThreadLooks(TimePoint now);

  // --- Of anybody: there is work where nobody drives, or did a moment ago.
  Told ThreadWanted();

  // All that it remembers, for who compares: a model.
  auto State() const {
    return std::tuple(driver_, wanted_, for_good_, in_a_row_, spinning_, waiting_,
                      last_arrival_.time_since_epoch().count(), since_.time_since_epoch().count());
  }

 private:
  enum class Driver : uint8_t { kThread, kVisitor, kNobody };

  Told TellThread();
  Told TellVisitor(TimePoint now);

  Driver driver_ = Driver::kThread;
  bool wanted_ = false;    // the thread gets the drive next
  bool for_good_ = false;  // the thread is parked until it is told
  bool in_a_row_ = false;  // the last one came soon after the one before
  LoopVisitor* spinning_ = nullptr;
  std::vector<LoopVisitor*> waiting_;  // as they came
  TimePoint last_arrival_{};
  TimePoint since_{};  // when driver_ became what it is, unless that is the thread
};

}  // namespace farcall

#endif  // FARCALL_TRANSPORT_LOOP_DRIVE_TURNS_H_
