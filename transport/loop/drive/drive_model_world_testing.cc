// SPDX-License-Identifier: Apache-2.0

#include "transport/loop/drive/drive_model_world_testing.h"

#include <bit>
#include <utility>

namespace farcall {
namespace {

// Only their addresses count.
std::array<char, DriveWorld::kActors> names;

LoopVisitor* NameOf(int caller) {
  return reinterpret_cast<LoopVisitor*>(&names[static_cast<size_t>(caller)]);
}

int NumberOf(const LoopVisitor* name) {
  int caller = 1;
  while (NameOf(caller) != name) ++caller;
  return caller;
}

int Lowest(uint8_t bits) { return std::countr_zero(bits); }

}  // namespace

DriveWorld::DriveWorld(const DriveScenario& scenario) : hang_up_(scenario.hang_up) {
  actors_[kThread].at = At::kTurn;
  for (int i = 0; i < kCallers; ++i) {
    actors_[1 + i].left = static_cast<uint8_t>(scenario.calls[i]);
    if (scenario.calls[i] > 0) actors_[1 + i].at = At::kAsk;
  }
  actors_[kOutside].left = static_cast<uint8_t>(scenario.visits.size());
  if (!scenario.visits.empty()) actors_[kOutside].at = At::kAsk;
}

bool DriveWorld::Step(const DriveScenario& scenario, int actor, int choice) {
  Actor& me = actors_[actor];
  bool stepped = false;
  if (me.wants || me.wakes != 0 || me.tells || me.ended != 0) {
    stepped = choice == 0 && StepSmall(scenario, me);
  } else if (me.at <= At::kArrive) {
    stepped = StepAsking(scenario, actor, me);
  } else if (me.at <= At::kWoken) {
    stepped = StepWaiting(scenario, actor, me, choice);
  } else if (me.at <= At::kInEpoll) {
    stepped = StepDriving(scenario, actor, me);
  } else if (me.at <= At::kLeft) {
    stepped = StepLeaving(scenario, actor, me);
  } else {
    stepped = StepThread(me);
  }
  if (!stepped) return false;
  Settle(actor, me);
  ForgetUnused(actor, me);
  return true;
}

// What no other actor can see, or sees without any difference, is part of the step before.
void DriveWorld::Settle(int actor, Actor& me) {
  if (me.wants || me.wakes != 0 || me.tells || me.ended != 0) return;
  if (me.at == At::kAskEnds) {
    LetGo();
    me.at = At::kArrive;
    if (actor == kOutside) Finish(actor, me);
  } else if (me.at == At::kTurnEnds) {
    LetGo();
    me.at = At::kAfter;
  } else if (me.at == At::kGiveAway) {
    me.at = visited_ && !needs_ ? At::kMayGive : At::kNext;
  }
  if (me.at == At::kNext) me.at = me.worked ? At::kTurn : At::kPrepare;
  if (me.at == At::kOver && actor == kThread) me.at = At::kInEpoll;
}

// What is never read again would only tell states apart.
void DriveWorld::ForgetUnused(int actor, Actor& me) {
  if (me.at != At::kFutex && me.at != At::kAsleep) me.seen = 0;
  if (me.at != At::kAloneLook && me.at != At::kLeft) me.rest = false;
  const bool after_turn = me.at == At::kTurnEnds || me.at == At::kAfter;
  const bool before_next = me.at >= At::kAlone && me.at <= At::kNext;
  if (!after_turn && (actor != kThread || !before_next)) me.worked = false;
  if (actors_[kThread].at != At::kParked) until_ = TimePoint();
}

// What an actor still does of an operation, one after the other.
bool DriveWorld::StepSmall(const DriveScenario& scenario, Actor& me) {
  if (me.wants) {
    me.wants = false;
    Notify(me, turns_.ThreadWanted());
  } else if (me.wakes != 0) {
    const int caller = Lowest(me.wakes);
    me.wakes = static_cast<uint8_t>(me.wakes & ~(1 << caller));
    // Perhaps it sleeps there for another call by now.
    if (actors_[caller].at == At::kAsleep) actors_[caller].at = At::kWoken;
  } else if (me.tells) {
    me.tells = false;
    if (actors_[kThread].at == At::kParked) actors_[kThread].at = At::kLook;
  } else {
    const int caller = Lowest(me.ended);
    me.ended = static_cast<uint8_t>(me.ended & ~(1 << caller));
    if (scenario.mistake != DriveMistake::kNoForget) turns_.Forget(*NameOf(caller));
    words_[caller] |= kDone;
    if ((words_[caller] & kSleeps) != 0) me.wakes |= static_cast<uint8_t>(1 << caller);
    if (driver_ == Driver::kAsleep) WakeDriver(scenario, me);
  }
  return true;
}

// RunOrPost.
bool DriveWorld::StepAsking(const DriveScenario& scenario, int actor, Actor& me) {
  uint8_t work = static_cast<uint8_t>(1 << actor);
  if (actor == kOutside) {
    constexpr std::array<uint8_t, 4> kWork = {kPlain, kUser, kClosure, kCancel};
    work = kWork[static_cast<size_t>(scenario.visits[scenario.visits.size() - me.left])];
  }
  switch (me.at) {
    case At::kAsk:
      if (work == kPlain || tasks_ != 0 || !Hold(actor)) {
        tasks_ |= work;
        me.at = At::kPosted;
      } else {
        Work(me, work);
        me.at = At::kAsked;
      }
      return true;
    case At::kAsked:
      if (user_ || (driver_ == Driver::kNone && needs_)) WakeDriver(scenario, me);
      me.at = At::kAskEnds;
      return true;
    case At::kPosted:
      WakeDriver(scenario, me);
      me.at = At::kArrive;
      if (actor == kOutside) Finish(actor, me);
      return true;
    default:
      if ((words_[actor] & kDone) != 0) {
        Finish(actor, me);
      } else if (turns_.Arrive(*NameOf(actor), now_)) {
        words_[actor] |= kDrives;
        me.at = At::kAttend;
      } else {
        Wait(actor, me);
      }
      return true;
  }
}

bool DriveWorld::StepWaiting(const DriveScenario& scenario, int actor, Actor& me, int choice) {
  const bool notice = (words_[actor] & (kDone | kDrives)) != 0;
  switch (me.at) {
    case At::kSpin:
      if (choice == 0 && !notice) return false;
      spin_taken_ = false;
      if (choice == 0) break;
      turns_.SetSpins(*NameOf(actor), false);
      me.at = At::kFallAsleep;
      return true;
    case At::kFallAsleep:
      words_[actor] |= kSleeps;
      break;
    case At::kFutex:
      me.at = words_[actor] == me.seen ? At::kAsleep : At::kWoken;
      return true;
    case At::kWoken:
      break;
    default:
      return false;
  }
  if (notice) {
    words_[actor] &= static_cast<uint8_t>(~kSleeps);
    const bool leaves = scenario.mistake == DriveMistake::kLeavesWithDrive;
    const bool drives = (words_[actor] & kDrives) != 0;
    me.at = At::kAttend;
    if (!drives || (leaves && (words_[actor] & kDone) != 0)) Finish(actor, me);
  } else {
    me.seen = words_[actor];
    me.at = At::kFutex;
  }
  return true;
}

bool DriveWorld::StepDriving(const DriveScenario& scenario, int actor, Actor& me) {
  switch (me.at) {
    case At::kAttend:
      driver_ = Driver::kAwake;
      me.at = At::kTurn;
      return true;
    case At::kTurn:
      if (!Hold(actor)) return false;
      Collect(me);
      me.at = At::kTurnEnds;
      return true;
    case At::kAfter:
      AfterTurn(actor, me);
      return true;
    case At::kPrepare:
      if (!Hold(actor)) return false;
      me.at = At::kLookAgain;
      driver_ = Driver::kAsleep;
      if (!user_) return true;
      break;
    case At::kLookAgain:
      if (tasks_ != 0) break;
      LetGo();
      me.at = At::kOver;
      return true;
    case At::kOver: {
      const bool done = actor != kThread && (words_[actor] & kDone) != 0 &&
                        scenario.mistake != DriveMistake::kSleepsThoughDone;
      me.at = done ? At::kAttend : At::kInEpoll;
      return true;
    }
    default:
      if (!wake_fd_ && readable_ == 0) return false;
      wake_fd_ = false;
      me.at = At::kAttend;
      return true;
  }
  driver_ = Driver::kAwake;
  LetGo();
  me.at = At::kTurn;
  return true;
}

bool DriveWorld::StepLeaving(const DriveScenario& scenario, int actor, Actor& me) {
  switch (me.at) {
    case At::kLeave:
      words_[actor] &= static_cast<uint8_t>(~kDrives);
      me.at = At::kAlone;
      if (!turns_.AnyNext()) return true;
      Notify(me, turns_.Leave(/*rest=*/false, now_));
      Finish(actor, me);
      return true;
    case At::kGive: {
      words_[actor] &= static_cast<uint8_t>(~kDrives);
      if ((words_[actor] & kDone) != 0) {
        Notify(me, turns_.Leave(/*rest=*/false, now_));
        Finish(actor, me);
        return true;
      }
      const DriveTurns::Notice notice = turns_.GiveToThread(*NameOf(actor));
      Wait(actor, me);
      Notify(me, notice);
      return true;
    }
    case At::kAlone:
      if (!Hold(actor)) return false;
      me.rest = !user_ && !needs_;
      me.at = At::kAloneLook;
      if (me.rest) driver_ = Driver::kNone;
      return true;
    case At::kAloneLook:
      if (me.rest && tasks_ != 0 && scenario.mistake != DriveMistake::kNoSecondLook) {
        me.rest = false;
        driver_ = Driver::kAwake;
      }
      LetGo();
      me.at = actor == kThread && !me.rest ? At::kNext : At::kLeft;
      return true;
    default:
      if (actor != kThread) {
        Notify(me, turns_.Leave(me.rest, now_));
        Finish(actor, me);
      } else {
        const std::optional<DriveTurns::Notice> notice = turns_.ThreadGives(now_);
        if (notice) Notify(me, *notice);
        me.at = notice ? At::kLook : At::kKeep;
      }
      return true;
  }
}

void DriveWorld::Wait(int actor, Actor& me) {
  visited_ = true;
  me.at = At::kFallAsleep;
  if (spin_taken_) return;
  spin_taken_ = true;
  turns_.SetSpins(*NameOf(actor), true);
  me.at = At::kSpin;
}

void DriveWorld::Notify(Actor& me, DriveTurns::Notice notice) {
  if (notice.thread) me.tells = true;
  if (notice.visitor == nullptr) return;
  const int caller = NumberOf(notice.visitor);
  const At at = actors_[caller].at;
  if (at < At::kSpin || at > At::kWoken) wrong_ = "the drive goes to a caller that is gone";
  words_[caller] |= kDrives;
  if ((words_[caller] & kSleeps) != 0) me.wakes |= static_cast<uint8_t>(1 << caller);
}

}  // namespace farcall
