// SPDX-License-Identifier: Apache-2.0
//
// A small model of the threads around a DriverClaim: two or three seats, the monitor, and somebody
// outside who queues user code. A step of a thread is what it does under one lock, or one access to
// an atomic; where it waits, it has none. All orders of steps are tried.

#ifndef FARCALL_TRANSPORT_LOOP_DRIVE_CLAIM_MODEL_TESTING_H_
#define FARCALL_TRANSPORT_LOOP_DRIVE_CLAIM_MODEL_TESTING_H_

#include <cstddef>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "transport/loop/drive/claim_model_world_testing.h"
#include "transport/loop/drive/driver_claim.h"

namespace farcall {

template <typename TestedClaim>
class ClaimModel {
 public:
  using W = ClaimWorld<TestedClaim>;
  ClaimModel(ClaimScript script, size_t seats, ClaimMistake broken = ClaimMistake::kNone)
      : script_(std::move(script)), seats_(seats), broken_(broken) {}

  // "": no rule is broken in any state.
  std::string Explore() {
    W first;
    first.standing_by = static_cast<int>(seats_);
    Add(first, 0);
    for (size_t i = 0; i < worlds_.size(); ++i) {
      const W now = worlds_[i];
      if (Drivers(now) > 1) return "two threads drive";
      for (size_t thread = 0; thread < seats_ + 2; ++thread) {
        W next = now;
        if (Step(next, thread)) Add(next, i);
      }
      if (worlds_.size() > 2'000'000) return "too many states";
    }
    return AllEnd() ? "" : "a state from which the end is not reached";
  }
  size_t states() const { return worlds_.size(); }

 private:
  void Add(const W& world, size_t from) {
    const auto [place, fresh] = known_.try_emplace(world.Key(), worlds_.size());
    if (fresh) {
      worlds_.push_back(world);
      before_.emplace_back();
    }
    before_[place->second].push_back(from);
  }
  bool AtEnd(const W& w) const {
    bool end = w.monitor == ClaimAt::kSleep && w.posted == script_.size();
    for (size_t i = 0; i < script_.size(); ++i) end = end && w.ran[i] == 1;
    for (size_t i = 0; i < kClaimModelSize; ++i) end = end && !w.pending[i];
    return end;
  }
  bool AllEnd() const {
    std::vector<bool> ends(worlds_.size(), false);
    std::vector<size_t> todo;
    for (size_t i = 0; i < worlds_.size(); ++i) {
      if (AtEnd(worlds_[i])) todo.push_back(i);
    }
    while (!todo.empty()) {
      const size_t i = todo.back();
      todo.pop_back();
      if (ends[i]) continue;
      ends[i] = true;
      for (const size_t from : before_[i]) todo.push_back(from);
    }
    for (const bool one : ends) {
      if (!one) return false;
    }
    return true;
  }
  // Threads that do what only the driver may.
  int Drivers(const W& w) const {
    int drivers = w.drive_free ? 1 : 0;
    for (const auto& seat : w.seats) {
      switch (seat.at) {
        case ClaimAt::kFirstFlush:
        case ClaimAt::kTurn:
        case ClaimAt::kPrepareSleep:
        case ClaimAt::kAsleep:
          ++drivers;
          break;
        case ClaimAt::kStandBy:
        case ClaimAt::kLost:
          break;
        default:
          drivers += seat.driving && (seat.token == 0 || seat.token == w.claim.state()) ? 1 : 0;
      }
    }
    return drivers;
  }

  static bool Waiting(const W& w) { return w.taken < w.posted; }
  static bool Output(const W& w) { return w.pending[0] || w.pending[1] || w.pending[2]; }
  static void Flush(W& w) {
    for (size_t i = 0; i < kClaimModelSize; ++i) w.flushed[i] = w.flushed[i] || w.pending[i];
    w.pending = {};
  }
  static typename DriverClaim::Thread Name(size_t seat) { return &W::kNames[seat]; }

  // False: it waits, or has ended.
  bool Step(W& w, size_t thread) {
    if (thread < seats_) return StepSeat(w, thread);
    return thread == seats_ ? StepMonitor(w) : StepOutside(w);
  }
  bool StepOutside(W& w) {
    if (w.posted == script_.size()) return false;
    ++w.posted;
    w.asleep = false;
    return true;
  }
  bool StepSeat(W& w, size_t i) {
    typename W::Seat& seat = w.seats[i];
    const bool free = w.driver_mutex == -1;
    switch (seat.at) {
      case ClaimAt::kStandBy:
        if (!w.drive_free || !free) return false;
        w.drive_free = false;
        --w.standing_by;
        seat.driving = true;
        return Go(seat, ClaimAt::kFirstFlush);
      case ClaimAt::kFirstFlush:
        if (broken_ != ClaimMistake::kNextDriverDoesNotFlush) Flush(w);
        return Go(seat, ClaimAt::kTurn);
      case ClaimAt::kTurn:
        w.due = w.posted - w.taken;
        seat.token = 0;
        return Go(seat, Waiting(w) || Output(w) ? ClaimAt::kTake : ClaimAt::kPrepareSleep);
      case ClaimAt::kPrepareSleep:
        w.asleep = !Waiting(w) && !Output(w);
        return Go(seat, w.asleep ? ClaimAt::kAsleep : ClaimAt::kTurn);
      case ClaimAt::kAsleep:
        return !w.asleep && Go(seat, ClaimAt::kTurn);
      case ClaimAt::kTake:
        if (w.due == 0 || !w.claim.Has(seat.token)) return Go(seat, ClaimAt::kEndTurn);
        --w.due;
        seat.piece = w.taken++;
        seat.act = 0;
        seat.token = w.claim.Begin(Name(i), /*watched=*/true);
        return Go(seat, ClaimAt::kLookAtMonitor);
      case ClaimAt::kLookAtMonitor:
        return Go(seat, w.monitor_asleep ? ClaimAt::kWakeMonitor : ClaimAt::kRun);
      case ClaimAt::kWakeMonitor:
        w.monitor_woken = w.monitor_woken || std::exchange(w.monitor_asleep, false);
        return Go(seat, ClaimAt::kRun);
      case ClaimAt::kRun:
        return StepUserCode(w, i);
      case ClaimAt::kBlockCheck:
        if (!free) return false;
        if (w.claim.state() != seat.token) {
          seat.driving = false;
        } else if (w.standing_by > 0) {
          w.driver_mutex = static_cast<int>(i);
          return Go(seat, ClaimAt::kBlockTake);
        }
        return Go(seat, ClaimAt::kRun);
      case ClaimAt::kBlockTake:
        PassOn(w, seat.token);
        seat.driving = false;
        return Go(seat, ClaimAt::kRun);
      case ClaimAt::kEndTurn:
        if (seat.driving && w.claim.End(seat.token)) {
          Flush(w);
          return Go(seat, ClaimAt::kTurn);
        }
        return Go(seat, ClaimAt::kLost);
      case ClaimAt::kLost:
        if (!free) return false;
        seat = {};
        ++w.standing_by;
        return true;
      default:
        return false;
    }
  }
  bool StepUserCode(W& w, size_t i) {
    typename W::Seat& seat = w.seats[i];
    const std::vector<ClaimAct>& acts = script_[seat.piece];
    if (seat.act == acts.size()) {
      ++w.ran[seat.piece];
      return Go(seat, seat.driving ? ClaimAt::kTake : ClaimAt::kLost);
    }
    const ClaimAct& act = acts[seat.act];
    if (act.op == ClaimOp::kAwaitFlush && !w.flushed[act.of]) return false;
    if (act.op == ClaimOp::kAwaitRun && w.ran[act.of] == 0) return false;
    ++seat.act;
    if (act.op == ClaimOp::kWrite) {
      w.pending[act.of] = true;
      // EventLoop::Leave.
      if (!w.claim.DefersOutput(Name(i))) Flush(w);
    }
    if (act.op == ClaimOp::kBlock && seat.driving) {
      Flush(w);
      seat.at = ClaimAt::kBlockCheck;
    }
    return true;
  }
  bool StepMonitor(W& w) {
    switch (w.monitor) {
      case ClaimAt::kLook:
        w.seen = w.claim.state();
        switch (w.look.Look(w.seen)) {
          case ClaimLook::Seen::kQuiet:
            return GoMonitor(w, ClaimAt::kSayAsleep);
          case ClaimLook::Seen::kMoved:
            return true;
          case ClaimLook::Seen::kLong:
            return GoMonitor(w, ClaimAt::kOver);
        }
        return false;
      case ClaimAt::kOver:
        if (w.driver_mutex != -1) return false;
        if (w.claim.state() != w.seen || w.standing_by == 0) return GoMonitor(w, ClaimAt::kLook);
        w.driver_mutex = static_cast<int>(kClaimModelSize);
        return GoMonitor(w, ClaimAt::kOverTake);
      case ClaimAt::kOverTake:
        PassOn(w, w.seen);
        return GoMonitor(w, ClaimAt::kLook);
      case ClaimAt::kSayAsleep:
        w.monitor_asleep = true;
        return GoMonitor(w, broken_ == ClaimMistake::kSleepsWithoutALook ? ClaimAt::kSleep
                                                                         : ClaimAt::kLookAgain);
      case ClaimAt::kLookAgain:
        if (w.claim.state() == w.look.last()) return GoMonitor(w, ClaimAt::kSleep);
        w.monitor_asleep = false;
        return GoMonitor(w, ClaimAt::kLook);
      case ClaimAt::kSleep:
        if (!w.monitor_woken) return false;
        w.monitor_woken = w.monitor_asleep = false;
        return GoMonitor(w, ClaimAt::kLook);
      default:
        return false;
    }
  }
  static void PassOn(W& w, DriverClaim::Piece piece) {
    w.drive_free = w.claim.Take(piece) || w.drive_free;
    w.driver_mutex = -1;
  }
  static bool Go(typename W::Seat& seat, ClaimAt at) {
    seat.at = at;
    return true;
  }
  static bool GoMonitor(W& w, ClaimAt at) {
    w.monitor = at;
    return true;
  }

  const ClaimScript script_;
  const size_t seats_;
  const ClaimMistake broken_;
  std::vector<W> worlds_;
  std::vector<std::vector<size_t>> before_;
  std::unordered_map<std::string, size_t> known_;
};

}  // namespace farcall

#endif  // FARCALL_TRANSPORT_LOOP_DRIVE_CLAIM_MODEL_TESTING_H_
