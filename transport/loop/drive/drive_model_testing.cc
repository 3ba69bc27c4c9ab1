// SPDX-License-Identifier: Apache-2.0

#include "transport/loop/drive/drive_model_testing.h"

#include <algorithm>
#include <optional>
#include <tuple>
#include <utility>

#include "absl/container/flat_hash_set.h"
#include "absl/hash/hash.h"
#include "transport/loop/drive/drive_model_world_testing.h"

namespace farcall {

// What no other actor can see, or sees without any difference, is part of the step before.
void DriveWorld::Settle(int actor, Actor& me) {
  if (me.wants || me.wakes != 0 || me.tells || me.ended != 0) return;
  if (me.at == At::kAskEnds) {
    LetGo(me);
    me.at = At::kArrive;
    if (actor == kOutside) Finish(actor, me);
  } else if (me.at == At::kTurnEnds) {
    LetGo(me);
    me.at = At::kAfter;
  } else if (me.at == At::kGiveAway) {
    me.at = visited_ && !needs_ ? At::kMayGive : At::kNext;
  }
  if (me.at == At::kNext) me.at = me.worked ? At::kTurn : At::kPrepare;
  if (me.at == At::kOver && actor == kThread) me.at = At::kInEpoll;
}

// The thread flushes once it has run user code.
bool DriveWorld::AfterTurn(int actor, Actor& me) {
  const bool user = me.worked && user_;
  if (me.worked && !(actor == kThread && user)) {
    if (held_ != kActors) return false;
    Flush();
  }
  if (actor == kThread) {
    me.at = user ? At::kUser : At::kGiveAway;
  } else if ((words_[actor] & kDone) != 0) {
    me.at = At::kLeave;
  } else if (turns_.thread_wanted() || needs_ || (me.worked && user_)) {
    me.at = At::kGive;
  } else {
    me.at = me.worked ? At::kTurn : At::kPrepare;
  }
  return true;
}

void DriveWorld::Flush() { asked_ |= std::exchange(queued_, 0); }

void DriveWorld::LetGo(Actor& me) {
  held_ = kActors;
  me.wakes |= std::exchange(told_, 0);
}

bool DriveWorld::StepThread(Actor& me) {
  switch (me.at) {
    case At::kUser:
      if (held_ != kActors) return false;
      Flush();
      user_ = false;
      me.at = At::kGiveAway;
      return true;
    case At::kMayGive:
      visited_ = turns_.ThreadMayGive(now_);
      me.at = visited_ ? At::kAlone : At::kNext;
      return true;
    case At::kKeep:
      driver_ = Driver::kAwake;
      me.at = At::kNext;
      return true;
    case At::kLook: {
      const std::optional<TimePoint> until = turns_.ThreadLooks(now_);
      if (until) until_ = *until;
      me.at = until ? At::kParked : At::kAttend;
      return true;
    }
    default:
      return false;
  }
}

// Of who holds the loop.
void DriveWorld::Work(Actor& me, uint8_t work) {
  if ((work & kUser) != 0) user_ = true;
  if ((work & kClosure) != 0) needs_ = true;
  if ((work & kCancel) != 0 && ((asked_ | queued_) & 1 << 1) != 0) {
    asked_ = static_cast<uint8_t>(asked_ & ~(1 << 1));
    queued_ = static_cast<uint8_t>(queued_ & ~(1 << 1));
    me.ended |= 1 << 1;
  }
  queued_ |= static_cast<uint8_t>(work & (kCalls | kClosure));
}

void DriveWorld::Collect(Actor& me) {
  const uint8_t read = std::exchange(readable_, 0);
  me.worked = tasks_ != 0 || read != 0 || user_ || queued_ != 0;
  Work(me, std::exchange(tasks_, 0));
  me.ended |= static_cast<uint8_t>(read & kCalls);
  if ((read & kClosure) != 0) {
    needs_ = false;
    user_ = true;
  }
}

void DriveWorld::WakeDriver(const DriveScenario& scenario, Actor& me) {
  switch (std::exchange(driver_, Driver::kAwake)) {
    case Driver::kAwake:
      return;
    case Driver::kAsleep:
      wake_fd_ = true;
      return;
    case Driver::kNone:
      me.wants = scenario.mistake != DriveMistake::kNoWant;
      return;
  }
}

// The next call has a word of its own, at the same address.
void DriveWorld::Finish(int actor, Actor& me) {
  --me.left;
  me.at = me.left == 0 ? At::kFinished : At::kAsk;
  words_[actor] = 0;
}

// What is never read again would only tell states apart.
void DriveWorld::ForgetUnused(int actor, Actor& me) {
  if (me.at != At::kLookForNotice && me.at != At::kFutex) me.stale = false;
  if (me.at != At::kAloneLook && me.at != At::kLeft) me.rest = false;
  const bool after_turn = me.at == At::kTurnEnds || me.at == At::kAfter;
  const bool before_next = me.at >= At::kAlone && me.at <= At::kNext;
  if (!after_turn && (actor != kThread || !before_next)) me.worked = false;
  if (actors_[kThread].at != At::kParked) until_ = TimePoint();
}

bool DriveWorld::Hold(int actor) {
  if (held_ != kActors) return false;
  held_ = static_cast<uint8_t>(actor);
  return true;
}

bool DriveWorld::Arrive(int bit) {
  const auto mask = static_cast<uint8_t>(1 << bit);
  if (mask == kHangUp) {
    if (!std::exchange(hang_up_, false)) return false;
  } else {
    if ((asked_ & mask) == 0) return false;
    asked_ = static_cast<uint8_t>(asked_ & ~mask);
  }
  readable_ |= mask;
  return true;
}

bool DriveWorld::TimePasses() {
  if (actors_[kThread].at != At::kParked || until_ == TimePoint::max()) return false;
  now_ = std::max(now_, until_);
  until_ = TimePoint();
  actors_[kThread].at = At::kLook;
  return true;
}

size_t DriveWorld::Fingerprint() const {
  const auto of = [](const Actor& one) {
    return std::tuple(one.at, one.left, one.ended, one.wakes, one.stale, one.wants, one.tells,
                      one.worked, one.rest);
  };
  return absl::HashOf(of(actors_[0]), of(actors_[1]), of(actors_[2]), of(actors_[3]), words_,
                      tasks_, queued_, asked_, readable_, held_, told_, driver_, user_, needs_,
                      wake_fd_, visited_, spin_taken_, hang_up_, wrong_,
                      now_.time_since_epoch().count(), until_.time_since_epoch().count(),
                      turns_.State());
}

bool DriveWorld::Drives(int actor) const {
  const At at = actors_[actor].at;
  if (actor == kThread) return at != At::kLook && at != At::kParked;
  return actor != kOutside && at >= At::kAttend && at <= At::kLeft;
}

const char* DriveWorld::Wrong() const {
  int driving = 0;
  for (int actor = 0; actor < kActors; ++actor) driving += Drives(actor) ? 1 : 0;
  if (driving > 1) return "two drive at once";
  if (queued_ != 0 && held_ == kActors && driver_ != Driver::kAwake) {
    return "a request waits, and nobody is awake to flush it";
  }
  return wrong_;
}

const char* DriveWorld::WrongAtRest() const {
  for (int actor = 1; actor < kActors; ++actor) {
    if (actors_[actor].at != At::kFinished) return "somebody waits for ever";
  }
  if (tasks_ != 0) return "a posted task waits and no thread drives";
  if (user_) return "user code waits for somebody to drive";
  if ((readable_ & ~kHangUp) != 0) return "an answer waits for somebody to drive";
  return nullptr;
}

const char* DriveWorld::WrongAtEnd() const {
  if (readable_ != 0) return "a hang-up waits for somebody to drive";
  return actors_[kThread].at == At::kInEpoll ? nullptr : "the thread is parked for ever";
}

namespace {

class Explorer {
 public:
  explicit Explorer(const DriveScenario& scenario) : scenario_(scenario) {}

  DriveFindings Run() {
    Add(DriveWorld(scenario_));
    while (!todo_.empty() && findings_.violation.empty()) {
      const DriveWorld world = std::move(todo_.back());
      todo_.pop_back();
      Expand(world);
    }
    findings_.states = seen_.size();
    return findings_;
  }

 private:
  void Add(DriveWorld world) {
    if (seen_.insert(world.Fingerprint()).second) todo_.push_back(std::move(world));
  }

  void Expand(const DriveWorld& world) {
    Report(world.Wrong());
    int steps = 0;
    for (int actor = 0; actor < DriveWorld::kActors; ++actor) {
      for (int choice = 0; choice < (world.Chooses(actor) ? 2 : 1); ++choice) {
        DriveWorld next = world;
        if (!next.Step(scenario_, actor, choice)) continue;
        ++steps;
        Add(std::move(next));
      }
    }
    for (int bit = 1; bit <= 4; ++bit) {
      DriveWorld next = world;
      if (!next.Arrive(bit)) continue;
      ++steps;
      Add(std::move(next));
    }
    if (steps == 0) Report(world.WrongAtRest());
    DriveWorld later = world;
    if (later.TimePasses()) return Add(std::move(later));
    if (steps > 0) return;
    ++findings_.ends;
    Report(world.WrongAtEnd());
  }

  void Report(const char* wrong) {
    if (wrong != nullptr) findings_.violation = wrong;
  }

  const DriveScenario& scenario_;
  absl::flat_hash_set<size_t> seen_;
  std::vector<DriveWorld> todo_;
  DriveFindings findings_;
};

}  // namespace

DriveFindings ExploreDrive(const DriveScenario& scenario) { return Explorer(scenario).Run(); }

}  // namespace farcall
