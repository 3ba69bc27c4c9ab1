// SPDX-License-Identifier: Apache-2.0
//
// The hand-over of a loop, over every interleaving. A small model of the threads around a
// DriverClaim: two or three seats, the monitor, and somebody outside who queues user code. A step
// of a thread is what it does under one lock, or one access to an atomic; where it waits, it has
// none. All orders of steps are tried. In each state one thread drives at most; from each state the
// end can be reached, where all user code has run, all output is flushed and the monitor sleeps.

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "transport/loop/driver_claim.h"

namespace farcall {
namespace {

// What a piece of user code does: `of` is a piece for kAwaitRun, else its own output's number.
enum class Op : uint8_t { kWrite, kAwaitFlush, kAwaitRun, kBlock };
struct Act {
  Op op;
  size_t of = 0;
};
using Script = std::vector<std::vector<Act>>;  // of each piece, in their order

constexpr size_t kMax = 3;  // seats, pieces and outputs

enum class At : uint8_t {
  // A seat.
  kStandBy,
  kFirstFlush,
  kTurn,
  kPrepareSleep,
  kAsleep,
  kTake,
  kLookAtMonitor,
  kWakeMonitor,
  kRun,
  kBlockCheck,
  kBlockTake,
  kEndTurn,
  kLost,
  // The monitor.
  kLook,
  kOver,
  kOverTake,
  kSayAsleep,
  kLookAgain,
  kSleep,
};

// Rules that a mutant breaks, where the code under test has none of its own.
enum class Broken : uint8_t { kNone, kSleepsWithoutALook, kNextDriverDoesNotFlush };

template <typename TestedClaim>
struct World {
  struct Seat {
    At at = At::kStandBy;
    bool driving = false;
    DriverClaim::Piece token = 0;
    size_t piece = 0;  // of the script
    size_t act = 0;
  };
  TestedClaim claim;
  ClaimLook look;
  std::array<Seat, kMax> seats{};
  At monitor = At::kLook;
  DriverClaim::Piece seen = 0;  // by the monitor, as long
  bool asleep = false;          // the loop's driver
  bool monitor_asleep = false;
  bool monitor_woken = false;
  int driver_mutex = -1;  // who holds it over several steps; kMax: the monitor
  bool drive_free = true;
  int standing_by = 0;
  uint64_t posted = 0;  // pieces, by somebody outside
  uint64_t taken = 0;   // of them, by drivers
  uint64_t due = 0;
  std::array<bool, kMax> pending{};  // output that was written and not flushed
  std::array<bool, kMax> flushed{};
  std::array<int, kMax> ran{};

  // All of it. The numbers are small.
  std::string Key() const {
    std::string key;
    const auto add = [&key](auto part) { key.push_back(static_cast<char>(part)); };
    for (size_t i = 0; i < kMax; ++i) {
      const Seat& seat = seats[i];
      add(seat.at);
      add(seat.driving);
      add(seat.token);
      add(seat.piece);
      add(seat.act);
      add(claim.DefersOutput(&kNames[i]));
      add(pending[i]);
      add(flushed[i]);
      add(ran[i]);
    }
    for (const uint64_t part : {claim.state(), look.last(), seen, posted, taken, due}) add(part);
    for (const bool part : {asleep, monitor_asleep, monitor_woken, drive_free}) add(part);
    add(monitor);
    add(driver_mutex);
    add(standing_by);
    return key;
  }

  static constexpr std::array<char, kMax> kNames{};  // of the threads, by their addresses
};

template <typename TestedClaim>
class Model {
 public:
  using W = World<TestedClaim>;
  Model(Script script, size_t seats, Broken broken = Broken::kNone)
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
    bool end = w.monitor == At::kSleep && w.posted == script_.size();
    for (size_t i = 0; i < script_.size(); ++i) end = end && w.ran[i] == 1;
    for (size_t i = 0; i < kMax; ++i) end = end && !w.pending[i];
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
        case At::kFirstFlush:
        case At::kTurn:
        case At::kPrepareSleep:
        case At::kAsleep:
          ++drivers;
          break;
        case At::kStandBy:
        case At::kLost:
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
    for (size_t i = 0; i < kMax; ++i) w.flushed[i] = w.flushed[i] || w.pending[i];
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
      case At::kStandBy:
        if (!w.drive_free || !free) return false;
        w.drive_free = false;
        --w.standing_by;
        seat.driving = true;
        return Go(seat, At::kFirstFlush);
      case At::kFirstFlush:
        if (broken_ != Broken::kNextDriverDoesNotFlush) Flush(w);
        return Go(seat, At::kTurn);
      case At::kTurn:
        w.due = w.posted - w.taken;
        seat.token = 0;
        return Go(seat, Waiting(w) || Output(w) ? At::kTake : At::kPrepareSleep);
      case At::kPrepareSleep:
        w.asleep = !Waiting(w) && !Output(w);
        return Go(seat, w.asleep ? At::kAsleep : At::kTurn);
      case At::kAsleep:
        return !w.asleep && Go(seat, At::kTurn);
      case At::kTake:
        if (w.due == 0 || !w.claim.Has(seat.token)) return Go(seat, At::kEndTurn);
        --w.due;
        seat.piece = w.taken++;
        seat.act = 0;
        seat.token = w.claim.Begin(Name(i), /*watched=*/true);
        return Go(seat, At::kLookAtMonitor);
      case At::kLookAtMonitor:
        return Go(seat, w.monitor_asleep ? At::kWakeMonitor : At::kRun);
      case At::kWakeMonitor:
        w.monitor_woken = w.monitor_woken || std::exchange(w.monitor_asleep, false);
        return Go(seat, At::kRun);
      case At::kRun:
        return StepUserCode(w, i);
      case At::kBlockCheck:
        if (!free) return false;
        if (w.claim.state() != seat.token) {
          seat.driving = false;
        } else if (w.standing_by > 0) {
          w.driver_mutex = static_cast<int>(i);
          return Go(seat, At::kBlockTake);
        }
        return Go(seat, At::kRun);
      case At::kBlockTake:
        PassOn(w, seat.token);
        seat.driving = false;
        return Go(seat, At::kRun);
      case At::kEndTurn:
        if (seat.driving && w.claim.End(seat.token)) {
          Flush(w);
          return Go(seat, At::kTurn);
        }
        return Go(seat, At::kLost);
      case At::kLost:
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
    const std::vector<Act>& acts = script_[seat.piece];
    if (seat.act == acts.size()) {
      ++w.ran[seat.piece];
      return Go(seat, seat.driving ? At::kTake : At::kLost);
    }
    const Act& act = acts[seat.act];
    if (act.op == Op::kAwaitFlush && !w.flushed[act.of]) return false;
    if (act.op == Op::kAwaitRun && w.ran[act.of] == 0) return false;
    ++seat.act;
    if (act.op == Op::kWrite) {
      w.pending[act.of] = true;
      // EventLoop::Leave.
      if (!w.claim.DefersOutput(Name(i))) Flush(w);
    }
    if (act.op == Op::kBlock && seat.driving) {
      Flush(w);
      seat.at = At::kBlockCheck;
    }
    return true;
  }
  bool StepMonitor(W& w) {
    switch (w.monitor) {
      case At::kLook:
        w.seen = w.claim.state();
        switch (w.look.Look(w.seen)) {
          case ClaimLook::Seen::kQuiet:
            return GoMonitor(w, At::kSayAsleep);
          case ClaimLook::Seen::kMoved:
            return true;
          case ClaimLook::Seen::kLong:
            return GoMonitor(w, At::kOver);
        }
        return false;
      case At::kOver:
        if (w.driver_mutex != -1) return false;
        if (w.claim.state() != w.seen || w.standing_by == 0) return GoMonitor(w, At::kLook);
        w.driver_mutex = static_cast<int>(kMax);
        return GoMonitor(w, At::kOverTake);
      case At::kOverTake:
        PassOn(w, w.seen);
        return GoMonitor(w, At::kLook);
      case At::kSayAsleep:
        w.monitor_asleep = true;
        return GoMonitor(w, broken_ == Broken::kSleepsWithoutALook ? At::kSleep : At::kLookAgain);
      case At::kLookAgain:
        if (w.claim.state() == w.look.last()) return GoMonitor(w, At::kSleep);
        w.monitor_asleep = false;
        return GoMonitor(w, At::kLook);
      case At::kSleep:
        if (!w.monitor_woken) return false;
        w.monitor_woken = w.monitor_asleep = false;
        return GoMonitor(w, At::kLook);
      default:
        return false;
    }
  }
  static void PassOn(W& w, DriverClaim::Piece piece) {
    w.drive_free = w.claim.Take(piece) || w.drive_free;
    w.driver_mutex = -1;
  }
  static bool Go(typename W::Seat& seat, At at) {
    seat.at = at;
    return true;
  }
  static bool GoMonitor(W& w, At at) {
    w.monitor = at;
    return true;
  }

  const Script script_;
  const size_t seats_;
  const Broken broken_;
  std::vector<W> worlds_;
  std::vector<std::vector<size_t>> before_;
  std::unordered_map<std::string, size_t> known_;
};

// Waits for its own output, before and after the drive is taken, and for the piece behind it.
const Script kBlocksOnTheLoop = {{{Op::kWrite, 0},
                                  {Op::kAwaitFlush, 0},
                                  {Op::kAwaitRun, 1},
                                  {Op::kWrite, 1},
                                  {Op::kAwaitFlush, 1}},
                                 {{Op::kWrite, 2}}};
// The first says that it blocks, and may be taken at the same moment.
const Script kSaysSo = {
    {{Op::kWrite, 0}, {Op::kBlock}, {Op::kAwaitRun, 1}, {Op::kWrite, 1}, {Op::kAwaitFlush, 1}},
    {{Op::kWrite, 2}, {Op::kBlock}}};
const Script kWritesTwice = {
    {{Op::kWrite, 0}, {Op::kAwaitFlush, 0}, {Op::kWrite, 1}, {Op::kAwaitFlush, 1}}};
const Script kQuick = {{{Op::kWrite, 0}}, {}, {{Op::kWrite, 1}}};
const Script kAllBlock = {{{Op::kAwaitRun, 1}}, {{Op::kAwaitRun, 2}}, {{Op::kWrite, 0}}};
const Script kWaitsForTheOthersOutput = {{{Op::kWrite, 0}, {Op::kAwaitRun, 1}},
                                         {{Op::kAwaitFlush, 0}}};

template <typename TestedClaim>
std::string Explore(const Script& script, size_t seats, Broken broken = Broken::kNone) {
  Model<TestedClaim> model(script, seats, broken);
  const std::string found = model.Explore();
  testing::Test::RecordProperty("states", static_cast<int>(model.states()));
  EXPECT_GT(model.states(), 50u);
  return found;
}

TEST(ClaimModelTest, NoInterleavingBreaksARule) {
  for (const Script& script :
       {kBlocksOnTheLoop, kSaysSo, kWritesTwice, kQuick, kWaitsForTheOthersOutput}) {
    EXPECT_EQ(Explore<DriverClaim>(script, 2), "");
  }
  for (const Script& script : {kSaysSo, kWaitsForTheOthersOutput, kAllBlock}) {
    EXPECT_EQ(Explore<DriverClaim>(script, 3), "");
  }
  EXPECT_EQ(Explore<DriverClaim>(kQuick, 1), "") << "with no spare thread";
}

TEST(ClaimModelTest, WithTooFewThreadsThatWaitForEachOtherStandStill) {
  EXPECT_NE(Explore<DriverClaim>(kAllBlock, 2), "");
}

struct NeverLost : DriverClaim {
  bool Has(Piece) const { return true; }
  bool End(Piece) { return true; }
};
struct TakesWhateverRuns : DriverClaim {
  bool Take(Piece) { return DriverClaim::Take(state()); }
};
struct DefersForEver : DriverClaim {
  Piece Begin(Thread driver, bool watched) {
    began = driver;
    return DriverClaim::Begin(driver, watched);
  }
  bool DefersOutput(Thread thread) const { return began == thread; }
  Thread began = nullptr;
};

TEST(ClaimModelTest, FindsEachRuleThatIsBroken) {
  EXPECT_NE(Explore<NeverLost>(kBlocksOnTheLoop, 2), "");
  EXPECT_NE(Explore<TakesWhateverRuns>(kQuick, 2), "");
  EXPECT_NE(Explore<DefersForEver>(kWritesTwice, 2), "");
  EXPECT_NE(Explore<DriverClaim>(kBlocksOnTheLoop, 2, Broken::kSleepsWithoutALook), "");
  EXPECT_NE(Explore<DriverClaim>(kWaitsForTheOthersOutput, 2, Broken::kNextDriverDoesNotFlush), "");
}

}  // namespace
}  // namespace farcall
