// SPDX-License-Identifier: Apache-2.0

#include "transport/link/stream/testing/rail_cut_sim.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <deque>
#include <memory>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "transport/link/stream/testing/stream_side.h"
#include "transport/link/stream/testing/stream_wire.h"
#include "transport/testing/test_random.h"

namespace farcall {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;

constexpr uint32_t kRails = 2;
constexpr Duration kAfter = milliseconds(800);  // of the cut: everything is over then

// Calls, as many at a time; each is followed by another one after a pause.
struct CallPlan {
  explicit CallPlan(TestRandom& random)
      : caller(static_cast<int>(random.Below(2))),
        request(1 + random.Size(3000)),
        answer(1 + random.Size(3000)),
        at_a_time(1 + random.Below(8)),
        pause(microseconds(250) * static_cast<int>(1 + random.Below(32))) {}

  const int caller;  // side
  const size_t request;
  const size_t answer;
  const size_t at_a_time;
  const Duration pause;
};

StreamLimits LimitsOf(TestRandom& random) {
  StreamLimits limits;
  limits.rails = kRails;
  // Calls are little beside that, or bulk.
  limits.least_slice = size_t{64} << random.Below(6);
  return limits;
}

class CutSim final : public StreamSide::Network {
 public:
  CutSim(uint64_t seed, BlockPool& pool, std::string* log)
      : world_{TestRandom(seed), pool, TimePoint(std::chrono::seconds(1)), log, {}},
        plan_(world_.random),
        last_end_(world_.now),
        cut_at_(world_.now + milliseconds(20) + microseconds(250) * Below(800)),
        due_(plan_.at_a_time, world_.now) {
    const StreamLimits limits = LimitsOf(world_.random);
    for (int i = 0; i < 2; ++i) {
      sides_[i] = std::make_unique<StreamSide>(i, limits, world_, *this);
    }
    for (LinkId link = kLifeline; link <= kRails; ++link) AddLink(link);
  }

  RailCutOutcome Run() {
    const TimePoint end = cut_at_ + kAfter;
    for (auto next = NextTime(); next && *next < end && world_.failure.empty(); next = NextTime()) {
      world_.now = std::max(world_.now, *next);
      Turn();
    }
    Ended(end);
    for (const auto& side : sides_) {
      const StreamStats stats = side->stream().stats();
      outcome_.resent_bytes += stats.resent_bytes;
      if (stats.fallbacks > 0) Fail("calls went over the lifeline");
    }
    if (outcome_.stopped > ways_ * kMaxStop) {
      Fail(absl::StrCat("calls stopped for ", outcome_.stopped / milliseconds(1), " ms"));
    }
    outcome_.failure = world_.failure;
    return outcome_;
  }

 private:
  // It needs no help to find out.
  void Gone(int, LinkId, bool) override {}
  void Upgrade(int, LinkFrameType, uint32_t) override {}

  int Below(uint64_t bound) { return static_cast<int>(world_.random.Below(bound)); }

  void AddLink(LinkId link) {
    const Duration delay = microseconds(250) * Below(9);
    const size_t room = 4000 + world_.random.Size(8000);
    for (auto& wire : wires_[link]) wire = std::make_unique<StreamWire>(world_.random, delay, room);
    if (link != kLifeline) {
      sides_[0]->Start(/*ask=*/false);
      sides_[1]->Expect(link);
    }
    for (int i = 0; i < 2; ++i) {
      sides_[i]->Connect(link, *wires_[link][i], *wires_[link][1 - i]);
      if (link != kLifeline) sides_[i]->Ready(link);
    }
  }

  std::optional<TimePoint> NextTime() const {
    std::optional<TimePoint> next;
    const auto take = [&](std::optional<TimePoint> time) {
      if (time && (!next || *time < *next)) next = time;
    };
    for (const auto& link : wires_) {
      for (const auto& wire : link) take(wire->next());
    }
    for (const auto& side : sides_) take(side->timer());
    if (!due_.empty()) take(due_.front());
    if (!cut_) take(cut_at_);
    return next;
  }

  bool Due(std::optional<TimePoint> time) const { return time && *time <= world_.now; }

  void Turn() {
    if (!cut_ && Due(cut_at_)) Cut();
    for (LinkId link = kLifeline; link <= kRails; ++link) {
      for (int from = 0; from < 2; ++from) {
        while (Due(wires_[link][from]->next())) sides_[1 - from]->Arrive(link);
      }
    }
    for (const auto& side : sides_) {
      if (Due(side->timer())) side->Timer();
    }
    Call();
    for (const auto& side : sides_) {
      if (side->dirty()) side->Flush();
    }
  }

  void Call() {
    StreamSide& caller = *sides_[plan_.caller];
    StreamSide& server = *sides_[1 - plan_.caller];
    for (; !due_.empty() && Due(due_.front()); due_.pop_front()) caller.Write(plan_.request);
    for (; server.delivered() >= (answered_ + 1) * plan_.request; ++answered_) {
      server.Write(plan_.answer);
    }
    for (; caller.delivered() >= (outcome_.calls + 1) * plan_.answer; ++outcome_.calls) {
      Ended(world_.now);
      due_.push_back(world_.now + plan_.pause);
    }
  }

  // A call has, or could have.
  void Ended(TimePoint now) {
    const Duration stop = now - std::exchange(last_end_, now);
    if (stop >= kStop) outcome_.stopped += stop;
  }

  void Cut() {
    cut_ = true;
    auto& wires = wires_[1 + world_.random.Below(kRails)];
    const uint64_t which = world_.random.Below(4);  // 0, 1: one direction; else both
    // Where it is not at once, both ends have found out.
    const Duration late =
        world_.random.Chance(0.8) ? milliseconds(1) * (200 + Below(300)) : Duration::zero();
    for (uint64_t i = 0; i < 2; ++i) {
      if (which < 2 && which != i) continue;
      wires[i]->Cut(late);
      ++ways_;
    }
  }

  void Fail(absl::string_view what) {
    if (world_.failure.empty()) world_.failure = std::string(what);
  }

  StreamSide::World world_;
  const CallPlan plan_;
  RailCutOutcome outcome_;
  uint64_t answered_ = 0;  // calls
  TimePoint last_end_;
  const TimePoint cut_at_;
  bool cut_ = false;
  int ways_ = 0;               // that are cut
  std::deque<TimePoint> due_;  // of calls to be begun
  // By link; [0]: from side 0 to side 1.
  std::array<std::array<std::unique_ptr<StreamWire>, 2>, 1 + kRails> wires_;
  std::array<std::unique_ptr<StreamSide>, 2> sides_;
};

}  // namespace

RailCutOutcome RunRailCutSim(uint64_t seed, BlockPool& pool, std::string* log) {
  RailCutOutcome outcome = CutSim(seed, pool, log).Run();
  if (outcome.failure.empty() && pool.stats().used_bytes != 0) {
    outcome.failure = "blocks are left in use";
  }
  return outcome;
}

}  // namespace farcall
