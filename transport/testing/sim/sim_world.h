// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_TRANSPORT_TESTING_SIM_SIM_WORLD_H_
#define FARCALL_TRANSPORT_TESTING_SIM_SIM_WORLD_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "absl/functional/function_ref.h"
#include "transport/base/clock.h"
#include "transport/loop/event_loop.h"
#include "transport/loop/loop_group.h"
#include "transport/testing/test_random.h"

namespace farcall {

// Loops in virtual time, in one thread: while there is work the clock stands still, then
// it jumps to the next timer. What happens follows from the seed alone, provided that
// nothing else posts to the loops or watches descriptors on them. Loops that always have
// work and never let the clock move are a fault, which is checked.
class SimWorld {
 public:
  // `loops` > 0.
  SimWorld(uint64_t seed, size_t loops);
  SimWorld(const SimWorld&) = delete;
  SimWorld& operator=(const SimWorld&) = delete;

  EventLoop& loop(size_t i) { return *owned_.at(i); }
  LoopGroup& loops() { return *group_; }
  ManualClock& clock() { return clock_; }
  TestRandom& random() { return random_; }

  // Runs `work` with `loop` held, after the tasks that wait.
  void Run(EventLoop& loop, absl::FunctionRef<void()> work);
  // A turn of each loop, in an order of its own; or, if no loop had work, time goes
  // on to the next timer. False: nothing is left to do, nor will be.
  bool Step();
  // Steps until `done`. False: nothing is left to do before that, or it would take
  // longer than `limit`, virtual.
  bool Until(absl::FunctionRef<bool()> done, Duration limit);
  // Steps until there is nothing to do within `span`, virtual.
  void RunFor(Duration span);

 private:
  // False: there is no such timer.
  bool AdvanceToTimer(TimePoint latest);
  bool TurnAll();

  static constexpr int kMaxTurns = 1'000'000;

  TestRandom random_;
  int turns_ = 0;  // with work, one after the other
  ManualClock clock_;
  std::vector<std::unique_ptr<EventLoop>> owned_;
  std::vector<EventLoop*> order_;
  std::unique_ptr<LoopGroup> group_;
};

}  // namespace farcall

#endif  // FARCALL_TRANSPORT_TESTING_SIM_SIM_WORLD_H_
