// SPDX-License-Identifier: Apache-2.0

#include "transport/link/stream/testing/stream_sim.h"

#include <algorithm>
#include <array>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "transport/link/stream/testing/stream_plan.h"
#include "transport/link/stream/testing/stream_scenario.h"
#include "transport/link/stream/testing/stream_side.h"
#include "transport/link/stream/testing/stream_verdict.h"
#include "transport/link/stream/testing/stream_wire.h"

namespace farcall {
namespace {

class Sim final : public StreamSide::Network {
 public:
  Sim(uint64_t seed, BlockPool& pool, std::string* log);
  std::string Run(StreamSimStats& stats);

 private:
  void Gone(int side, LinkId generation, bool stuck) override;
  void Upgrade(int side, LinkFrameType type, uint32_t generation) override;

  bool calm() const { return world_.now >= calm_; }
  StreamPipe& Find(LinkId link) { return pipes_[link]; }
  void Connect(int side, LinkId link);

  bool Step();
  std::optional<TimePoint> NextTime() const;
  void Happen();
  void Do(const StreamEvent& event);
  void StartGeneration();
  void SetUp(int side, uint32_t generation);
  void Die(uint32_t generation);
  void CheckProgress();
  void Fail(absl::string_view what);

  StreamSide::World world_;
  const StreamScenario scenario_;
  TimePoint calm_;
  std::vector<StreamPipe> pipes_;  // by link
  StreamSides sides_;
  StreamPlan plan_;
  TimePoint limit_;
  bool closing_planned_ = false;
  uint64_t steps_ = 0;
};

Sim::Sim(uint64_t seed, BlockPool& pool, std::string* log)
    : world_{TestRandom(seed), pool, TimePoint(std::chrono::seconds(1)), log, {}},
      scenario_(world_.random),
      calm_(world_.now + scenario_.chaos),
      plan_(world_),
      limit_(calm_ + Ms(120000)) {
  for (int i = 0; i < 2; ++i) {
    sides_[i] = std::make_unique<StreamSide>(i, scenario_.limits[i], world_, *this);
  }
  pipes_.emplace_back(kLifeline, world_.random, scenario_.tcp_delay, scenario_.tcp_room);
  for (int i = 0; i < 2; ++i) Connect(i, kLifeline);
  plan_.Add(scenario_);
}

void Sim::Connect(int side, LinkId link) {
  StreamPipe& pipe = Find(link);
  sides_[side]->Connect(link, *pipe.wires[side], *pipe.wires[1 - side]);
}

// --- What happens.

void Sim::StartGeneration() {
  const StreamSide& client = *sides_[0];
  if (client.stream().ended()) return;
  // Where so many have come and gone, the calm has room for those that are still to come.
  const size_t most = calm() ? 80 : 60;
  if (!client.stream().MayStart() || client.frozen() || pipes_.size() > most) {
    return plan_.At(Ms(15), StreamAct::kStart, 0);
  }
  // By other ways the server may hear of more than it takes.
  uint32_t alive = 0;
  for (const StreamPipe& pipe : pipes_) alive += sides_[1]->stream().Alive(pipe.link) ? 1 : 0;
  if (!scenario_.ask && alive == Generations::kMax) return plan_.At(Ms(15), StreamAct::kStart, 0);

  const uint32_t generation = sides_[0]->Start(scenario_.ask);
  // A few bytes take longer on it than many on the others.
  const bool slow = scenario_.several() && world_.random.Chance(scenario_.slow);
  pipes_.emplace_back(generation, world_.random, slow ? Ms(60) : scenario_.rdma_delay,
                      slow ? 60 : scenario_.rdma_room);
  for (int i = 0; i < 2; ++i) Connect(i, generation);
  SetUp(0, generation);
  if (!scenario_.ask && !sides_[1]->stream().ended())
    Do({world_.now, StreamAct::kExpect, 1, generation});
  plan_.At(Ms(15), StreamAct::kStart, 0);
}

void Sim::SetUp(int side, uint32_t generation) {
  TestRandom& random = world_.random;
  const bool fails = !calm() && random.Chance(scenario_.set_up_fails);
  plan_.At(plan_.Within(side == 0 ? 30 : 60), fails ? StreamAct::kBroken : StreamAct::kReady, side,
           generation);
  if (side == 0 && !calm() && random.Chance(scenario_.dies)) {
    plan_.At(std::min<Duration>(plan_.Within(300), calm_ - world_.now), StreamAct::kCut, 0,
             generation);
  }
}

void Sim::Upgrade(int side, LinkFrameType type, uint32_t generation) {
  if (side != 1 || type != LinkFrameType::kUpgradeAsk) return;
  sides_[1]->Expect(generation);
  if (!calm() && world_.random.Chance(0.1)) return sides_[1]->Decline(generation);
  SetUp(1, generation);
}

void Sim::Gone(int side, LinkId generation, bool stuck) {
  StreamPipe& pipe = Find(generation);
  if (stuck && !pipe.wires[0]->cut() && !pipe.wires[1]->cut() && !sides_[1 - side]->frozen()) {
    Fail(absl::StrCat("G", generation, " was given up as stuck, and nothing was wrong with it"));
  }
  pipe.wires[side]->Cut();
  if (world_.random.Chance(scenario_.noticed)) {
    plan_.At(plan_.Within(100), StreamAct::kBroken, 1 - side, generation);
  }
}

void Sim::Die(uint32_t generation) {
  TestRandom& random = world_.random;
  StreamPipe& pipe = Find(generation);
  const uint64_t which = random.Below(4);  // 0, 1: one direction; else both
  for (uint64_t i = 0; i < 2; ++i) {
    if (which >= 2 || which == i) pipe.wires[i]->Cut();
  }
  for (int i = 0; i < 2; ++i) {
    if (random.Chance(scenario_.noticed))
      plan_.At(plan_.Within(400), StreamAct::kBroken, i, generation);
  }
  if (!scenario_.several() || !random.Chance(scenario_.all_die)) return;
  for (StreamPipe& other : pipes_) {
    if (other.link == kLifeline || other.link == generation || other.wires[0]->cut()) continue;
    other.Cut();
  }
}

void Sim::Do(const StreamEvent& event) {
  StreamSide& side = *sides_[event.side];
  switch (event.act) {
    case StreamAct::kWrite:
      return side.Write(event.number);
    case StreamAct::kPause:
      return side.Pause(true);
    case StreamAct::kResume:
      return side.Pause(false);
    case StreamAct::kStart:
      return StartGeneration();
    case StreamAct::kExpect:
      side.Expect(event.number);
      return SetUp(event.side, event.number);
    case StreamAct::kReady:
      return side.Ready(event.number);
    case StreamAct::kBroken:
      return side.Broken(event.number, absl::UnavailableError("cut"));
    case StreamAct::kCut:
      return Die(event.number);
    case StreamAct::kClose:
      return side.Close();
    case StreamAct::kAbort:
      return side.Abort();
    case StreamAct::kLifelineEnd:
      Find(kLifeline).Cut();
      return side.LifelineEnd(absl::UnavailableError("connection reset"));
    case StreamAct::kFreeze:
      return side.Freeze();
    case StreamAct::kSilence:
      for (auto& wire : Find(kLifeline).wires) wire->Silence();
      return;
  }
}

// --- The run.

std::optional<TimePoint> Sim::NextTime() const {
  std::optional<TimePoint> next;
  const auto take = [&](std::optional<TimePoint> time) {
    if (time && (!next || *time < *next)) next = time;
  };
  for (const StreamEvent& event : plan_.events()) take(event.at);
  for (const StreamPipe& pipe : pipes_) {
    for (const auto& wire : pipe.wires) take(wire->next());
  }
  for (const auto& side : sides_) take(side->timer());
  return next;
}

// One of the things that are due, whichever.
void Sim::Happen() {
  struct Due {
    int kind;  // 0: event, 1: wire, 2: timer
    size_t index;
    int side;
  };
  std::array<Due, 256> due;
  size_t count = 0;
  const auto add = [&](int kind, size_t index, int side) {
    if (count < due.size()) due[count++] = {kind, index, side};
  };
  for (size_t i = 0; i < plan_.events().size(); ++i) {
    if (plan_.events()[i].at <= world_.now) add(0, i, 0);
  }
  for (size_t i = 0; i < pipes_.size(); ++i) {
    for (int from = 0; from < 2; ++from) {
      const auto next = pipes_[i].wires[from]->next();
      if (next && *next <= world_.now) add(1, i, 1 - from);
    }
  }
  for (int i = 0; i < 2; ++i) {
    const auto timer = sides_[i]->timer();
    if (timer && *timer <= world_.now) add(2, 0, i);
  }
  const Due& one = due[world_.random.Below(count)];
  if (one.kind == 2) return sides_[one.side]->Timer();
  if (one.kind == 1) return sides_[one.side]->Arrive(pipes_[one.index].link);
  Do(plan_.Take(one.index));
}

bool Sim::Step() {
  std::optional<TimePoint> next = NextTime();
  // A turn ends at the latest when time goes on.
  const bool later = !next || *next > world_.now;
  bool flushed = false;
  for (const auto& side : sides_) {
    if (!side->dirty() || !(later || world_.random.Chance(0.5))) continue;
    side->Flush();
    flushed = true;
  }
  if (flushed) return true;
  if (!next) return false;
  world_.now = std::max(world_.now, *next);
  Happen();
  return true;
}

void Sim::Fail(absl::string_view what) {
  if (world_.failure.empty()) world_.failure = std::string(what);
}

// Once nothing goes wrong any more, all arrives and travels by RDMA; then they close.
void Sim::CheckProgress() {
  if (scenario_.ending != StreamEnding::kSettled || closing_planned_) return;
  if (world_.now > calm_ + Ms(60) && Settled(scenario_, sides_)) {
    closing_planned_ = true;
    const int side = static_cast<int>(world_.random.Below(2));
    plan_.At(plan_.Within(5), StreamAct::kClose, side);
    if (world_.random.Chance(0.3)) plan_.At(plan_.Within(100), StreamAct::kClose, 1 - side);
    // A generation of which only the way back is dead, so that no side finds out, moves a
    // window with each PONG. Windows of a few bytes over slow wires take more than 15 s.
  } else if (world_.now > calm_ + Ms(scenario_.one_sided ? 90000 : 30000)) {
    Fail(absl::StrCat("not settled in time: ", Progress(sides_)));
  }
}

std::string Sim::Run(StreamSimStats& stats) {
  constexpr uint64_t kMaxSteps = 100000;
  const auto over = [](const auto& side) { return side->frozen() || side->end(); };
  while (world_.failure.empty() && !std::all_of(sides_.begin(), sides_.end(), over)) {
    if (++steps_ > kMaxSteps || world_.now > limit_) {
      Fail("it does not come to an end");
    } else if (!Step()) {
      Fail("nothing happens any more");
    }
    CheckProgress();
  }
  if (world_.failure.empty()) Fail(WrongEnd(scenario_, sides_, world_.now - calm_));
  stats.steps += steps_;
  AddStats(sides_, stats);
  return world_.failure;
}

}  // namespace

std::string RunStreamSim(uint64_t seed, BlockPool& pool, StreamSimStats& stats, std::string* log) {
  std::string failure = Sim(seed, pool, log).Run(stats);
  if (failure.empty() && pool.stats().used_bytes != 0) failure = "blocks are left in use";
  return failure;
}

}  // namespace farcall
