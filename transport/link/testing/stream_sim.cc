// SPDX-License-Identifier: Apache-2.0

#include "transport/link/testing/stream_sim.h"

#include <algorithm>
#include <array>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "transport/link/testing/stream_scenario.h"
#include "transport/link/testing/stream_side.h"
#include "transport/link/testing/stream_wire.h"

namespace farcall {
namespace {

constexpr Duration Ms(uint64_t count) { return std::chrono::milliseconds(count); }

enum class Act : uint8_t {
  kWrite,
  kPause,
  kResume,
  kStart,
  kExpect,
  kReady,
  kBroken,
  kCut,
  kClose,
  kAbort,
  kLifelineEnd,
  kFreeze,
  kSilence,
};

struct Event {
  TimePoint at{};
  Act act{};
  int side = 0;
  uint32_t number = 0;  // bytes to write, or the generation
};

struct Pipe {
  LinkId link = kLifeline;
  std::array<std::unique_ptr<StreamWire>, 2> wires;  // [0]: from side 0 to side 1
};

class Sim final : public StreamSide::Network {
 public:
  Sim(uint64_t seed, BlockPool& pool, std::string* log);
  std::string Run(StreamSimStats& stats);

 private:
  void Gone(int side, LinkId generation, bool stuck) override;
  void Upgrade(int side, LinkFrameType type, uint32_t generation) override;

  void Plan();
  void PlanEnding();
  void At(Duration delay, Act act, int side, uint32_t number = 0);
  Duration Within(uint64_t ms) {
    return std::chrono::microseconds(250) * static_cast<int>(world_.random.Below(4 * ms + 1));
  }
  bool calm() const { return world_.now >= calm_; }
  Pipe& Find(LinkId link) { return pipes_[link]; }
  void AddPipe(LinkId link, Duration delay, size_t room);
  void Connect(int side, LinkId link);

  bool Step();
  std::optional<TimePoint> NextTime() const;
  void Happen();
  void Do(const Event& event);
  void StartGeneration();
  void SetUp(int side, uint32_t generation);
  void Die(uint32_t generation);
  void CheckProgress();
  void CheckEnds();
  void Fail(absl::string_view what);
  bool Settled() const;

  StreamSide::World world_;
  const StreamScenario scenario_;
  TimePoint calm_;
  std::vector<Pipe> pipes_;  // by link
  std::array<std::unique_ptr<StreamSide>, 2> sides_;
  std::vector<Event> events_;
  TimePoint limit_;
  bool closing_planned_ = false;
  uint64_t steps_ = 0;
};

Sim::Sim(uint64_t seed, BlockPool& pool, std::string* log)
    : world_{TestRandom(seed), pool, TimePoint(std::chrono::seconds(1)), log, {}},
      scenario_(world_.random),
      calm_(world_.now + scenario_.chaos),
      limit_(calm_ + Ms(120000)) {
  for (int i = 0; i < 2; ++i) {
    sides_[i] = std::make_unique<StreamSide>(i, scenario_.limits[i], world_, *this);
  }
  AddPipe(kLifeline, scenario_.tcp_delay, scenario_.tcp_room);
  for (int i = 0; i < 2; ++i) Connect(i, kLifeline);
  Plan();
}

void Sim::AddPipe(LinkId link, Duration delay, size_t room) {
  Pipe& pipe = pipes_.emplace_back();
  pipe.link = link;
  for (auto& wire : pipe.wires) {
    wire = std::make_unique<StreamWire>(world_.random, delay, room);
  }
}

void Sim::Connect(int side, LinkId link) {
  Pipe& pipe = Find(link);
  sides_[side]->Connect(link, *pipe.wires[side], *pipe.wires[1 - side]);
}

void Sim::At(Duration delay, Act act, int side, uint32_t number) {
  events_.push_back({world_.now + delay, act, side, number});
}

void Sim::Plan() {
  TestRandom& random = world_.random;
  const auto any_time = [&] {
    return scenario_.chaos * static_cast<int>(random.Below(1000)) / 1000;
  };
  for (int i = 0; i < scenario_.writes; ++i) {
    const int side = scenario_.one_sided ? 0 : static_cast<int>(random.Below(2));
    At(any_time(), Act::kWrite, side, static_cast<uint32_t>(random.Size(scenario_.most_written)));
  }
  for (int i = 0; i < 2; ++i) {
    if (random.Chance(0.7)) continue;
    const Duration pause = any_time();
    At(pause, Act::kPause, i);
    At(std::min(pause + Within(700), scenario_.chaos) + Ms(1), Act::kResume, i);
  }
  At(Within(20), Act::kStart, 0);
  PlanEnding();
}

void Sim::PlanEnding() {
  TestRandom& random = world_.random;
  const Duration when = scenario_.chaos * static_cast<int>(random.Below(1000)) / 1000;
  const int side = static_cast<int>(random.Below(2));
  switch (scenario_.ending) {
    case StreamEnding::kSettled:
      // Something to say, so that whoever sends on a dead generation finds out.
      At(scenario_.chaos + Within(50), Act::kWrite, 0, 3);
      if (!scenario_.one_sided) At(scenario_.chaos + Within(50), Act::kWrite, 1, 3);
      return;
    case StreamEnding::kEarly:
      At(when, Act::kClose, side);
      if (random.Chance(0.4)) At(when + Within(60), Act::kClose, 1 - side);
      return;
    case StreamEnding::kAbort:
      return At(when, Act::kAbort, side);
    case StreamEnding::kLifelineDies:
      At(when + Within(500), Act::kLifelineEnd, side);
      return At(when + Within(500), Act::kLifelineEnd, 1 - side);
    case StreamEnding::kPeerStops:
      return At(when, Act::kFreeze, side);
    case StreamEnding::kLifelineFallsSilent:
      return At(when, Act::kSilence, side);
  }
}

// --- What happens.

void Sim::StartGeneration() {
  const StreamSide& client = *sides_[0];
  if (client.stream().ended()) return;
  if (!client.stream().MayStart() || client.frozen() || pipes_.size() > 60) {
    return At(Ms(15), Act::kStart, 0);
  }
  // By other ways the server may hear of more than it takes.
  uint32_t alive = 0;
  for (const Pipe& pipe : pipes_) alive += sides_[1]->stream().Alive(pipe.link) ? 1 : 0;
  if (!scenario_.ask && alive == Generations::kMost) return At(Ms(15), Act::kStart, 0);

  const uint32_t generation = sides_[0]->Start(scenario_.ask);
  AddPipe(generation, scenario_.rdma_delay, scenario_.rdma_room);
  for (int i = 0; i < 2; ++i) Connect(i, generation);
  SetUp(0, generation);
  if (!scenario_.ask && !sides_[1]->stream().ended()) Do({world_.now, Act::kExpect, 1, generation});
  At(Ms(15), Act::kStart, 0);
}

void Sim::SetUp(int side, uint32_t generation) {
  TestRandom& random = world_.random;
  const bool fails = !calm() && random.Chance(scenario_.set_up_fails);
  At(Within(side == 0 ? 30 : 60), fails ? Act::kBroken : Act::kReady, side, generation);
  if (side == 0 && !calm() && random.Chance(scenario_.dies)) {
    At(std::min<Duration>(Within(300), calm_ - world_.now), Act::kCut, 0, generation);
  }
}

void Sim::Upgrade(int side, LinkFrameType type, uint32_t generation) {
  if (side != 1 || type != LinkFrameType::kUpgradeAsk) return;
  sides_[1]->Expect(generation);
  if (!calm() && world_.random.Chance(0.1)) return sides_[1]->Decline(generation);
  SetUp(1, generation);
}

void Sim::Gone(int side, LinkId generation, bool stuck) {
  Pipe& pipe = Find(generation);
  if (stuck && !pipe.wires[0]->cut() && !pipe.wires[1]->cut() && !sides_[1 - side]->frozen()) {
    Fail(absl::StrCat("G", generation, " was given up as stuck, and nothing was wrong with it"));
  }
  pipe.wires[side]->Cut();
  if (world_.random.Chance(scenario_.noticed)) {
    At(Within(100), Act::kBroken, 1 - side, generation);
  }
}

void Sim::Die(uint32_t generation) {
  TestRandom& random = world_.random;
  Pipe& pipe = Find(generation);
  const uint64_t which = random.Below(4);  // 0, 1: one direction; else both
  for (uint64_t i = 0; i < 2; ++i) {
    if (which >= 2 || which == i) pipe.wires[i]->Cut();
  }
  for (int i = 0; i < 2; ++i) {
    if (random.Chance(scenario_.noticed)) At(Within(400), Act::kBroken, i, generation);
  }
}

void Sim::Do(const Event& event) {
  StreamSide& side = *sides_[event.side];
  switch (event.act) {
    case Act::kWrite:
      return side.Write(event.number);
    case Act::kPause:
      return side.Pause(true);
    case Act::kResume:
      return side.Pause(false);
    case Act::kStart:
      return StartGeneration();
    case Act::kExpect:
      side.Expect(event.number);
      return SetUp(event.side, event.number);
    case Act::kReady:
      return side.Ready(event.number);
    case Act::kBroken:
      return side.Broken(event.number, absl::UnavailableError("cut"));
    case Act::kCut:
      return Die(event.number);
    case Act::kClose:
      return side.Close();
    case Act::kAbort:
      return side.Abort();
    case Act::kLifelineEnd:
      for (auto& wire : Find(kLifeline).wires) wire->Cut();
      return side.LifelineEnd(absl::UnavailableError("connection reset"));
    case Act::kFreeze:
      return side.Freeze();
    case Act::kSilence:
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
  for (const Event& event : events_) take(event.at);
  for (const Pipe& pipe : pipes_) {
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
  for (size_t i = 0; i < events_.size(); ++i) {
    if (events_[i].at <= world_.now) add(0, i, 0);
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
  const Event event = events_[one.index];
  events_.erase(events_.begin() + static_cast<std::ptrdiff_t>(one.index));
  Do(event);
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

bool Sim::Settled() const {
  for (int i = 0; i < 2; ++i) {
    const SwitchingStream& stream = sides_[i]->stream();
    if (sides_[i]->delivered() != sides_[1 - i]->written()) return false;
    if (stream.sending_on() == kLifeline) return false;
  }
  // Who has nothing to say need not notice that it would say it in vain.
  if (scenario_.one_sided) return true;
  return sides_[0]->stream().sending_on() == sides_[1]->stream().sending_on();
}

// Once nothing goes wrong any more, all arrives and travels by RDMA; then they close.
void Sim::CheckProgress() {
  if (scenario_.ending != StreamEnding::kSettled || closing_planned_) return;
  if (world_.now > calm_ + Ms(60) && Settled()) {
    closing_planned_ = true;
    const int side = static_cast<int>(world_.random.Below(2));
    At(Within(5), Act::kClose, side);
    if (world_.random.Chance(0.3)) At(Within(100), Act::kClose, 1 - side);
    // A generation of which only the way back is dead, so that nobody finds out, moves a
    // window with each PONG.
  } else if (world_.now > calm_ + Ms(scenario_.one_sided ? 90000 : 15000)) {
    Fail(absl::StrCat("not settled in time: A has ", sides_[0]->delivered(), " of ",
                      sides_[1]->written(), " bytes and sends on ",
                      sides_[0]->stream().sending_on(), ", B has ", sides_[1]->delivered(), " of ",
                      sides_[0]->written(), " and sends on ", sides_[1]->stream().sending_on()));
  }
}

void Sim::CheckEnds() {
  const bool silence = scenario_.ending == StreamEnding::kPeerStops ||
                       scenario_.ending == StreamEnding::kLifelineFallsSilent;
  // An idle lifeline is asked after 1 s, and the answer waited for for 4.
  if (silence && world_.now > calm_ + Ms(8000)) return Fail("a silence was noticed late");
  const bool orderly =
      scenario_.ending == StreamEnding::kSettled || scenario_.ending == StreamEnding::kEarly;
  for (int i = 0; i < 2; ++i) {
    const StreamSide& side = *sides_[i];
    const StreamSide& peer = *sides_[1 - i];
    const char* const name = i == 0 ? "A" : "B";
    if (side.frozen()) continue;
    if (!side.end()) return Fail(absl::StrCat(name, " has not ended"));
    if (side.delivered() > peer.written()) return Fail("more was delivered than was written");
    if (!orderly) continue;
    const bool good = side.closed() ? side.end()->ok() : side.end()->message() == "closed by peer";
    if (!good) return Fail(absl::StrCat(name, " ended with ", side.end()->ToString()));
    // Who closes reads nothing more; who did not has everything.
    if (!side.closed() && side.delivered() != peer.written()) {
      return Fail(absl::StrCat(name, " has ", side.delivered(), " of ", peer.written(),
                               " bytes at the end"));
    }
  }
}

std::string Sim::Run(StreamSimStats& stats) {
  constexpr uint64_t kMostSteps = 100000;
  const auto over = [this](const auto& side) { return side->frozen() || side->end(); };
  while (world_.failure.empty() && !std::all_of(sides_.begin(), sides_.end(), over)) {
    if (++steps_ > kMostSteps || world_.now > limit_) {
      Fail("it does not come to an end");
    } else if (!Step()) {
      Fail("nothing happens any more");
    }
    CheckProgress();
  }
  if (world_.failure.empty()) CheckEnds();
  stats.steps += steps_;
  for (const auto& side : sides_) {
    const StreamStats one = side->stream().stats();
    stats.upgrades += one.upgrades;
    stats.fallbacks += one.fallbacks;
    stats.resent_bytes += one.resent_bytes;
    stats.dropped_bytes += one.dropped_bytes;
    stats.pings += one.pings;
    stats.delivered_bytes += side->delivered();
    const bool in_order =
        side->end() && (side->end()->ok() || side->end()->message() == "closed by peer");
    stats.orderly_ends += in_order ? 1 : 0;
  }
  return world_.failure;
}

}  // namespace

std::string RunStreamSim(uint64_t seed, BlockPool& pool, StreamSimStats& stats, std::string* log) {
  std::string failure = Sim(seed, pool, log).Run(stats);
  if (failure.empty() && pool.stats().used_bytes != 0) failure = "blocks are left in use";
  return failure;
}

}  // namespace farcall
