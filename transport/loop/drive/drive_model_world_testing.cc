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
    stepped = StepSmall(scenario, me, choice);
  } else if (me.at <= At::kArrive) {
    stepped = StepAsking(scenario, actor, me, choice);
  } else if (me.at <= At::kAsleep) {
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

// What an actor still does of an operation, one after the other.
bool DriveWorld::StepSmall(const DriveScenario& scenario, Actor& me, int choice) {
  if (choice != 0 && (me.wants || me.wakes != 0 || me.tells)) return false;
  if (me.wants) {
    me.wants = false;
    Notify(me, turns_.ThreadWanted());
  } else if (me.wakes != 0) {
    for (int caller = 1; caller <= kCallers; ++caller) {
      // Perhaps it sleeps for another call by now.
      const bool asleep = actors_[caller].at == At::kAsleep && (me.wakes & 1 << caller) != 0;
      if (asleep) actors_[caller].at = At::kWoken;
      const bool looks = actors_[caller].at == At::kLookForNotice;
      actors_[caller].stale |= looks || actors_[caller].at == At::kFutex;
    }
    me.wakes = 0;
  } else if (me.tells) {
    me.tells = false;
    if (actors_[kThread].at == At::kParked) actors_[kThread].at = At::kLook;
  } else {
    const int caller = Lowest(me.ended);
    me.ended = static_cast<uint8_t>(me.ended & ~(1 << caller));
    if (scenario.mistake != DriveMistake::kNoForget) turns_.Forget(*NameOf(caller));
    words_[caller] |= kDone;
    if ((words_[caller] & kSleeps) != 0) {
      // Among many, or few.
      uint8_t& woken = choice == 0 ? told_ : me.wakes;
      woken |= static_cast<uint8_t>(1 << caller);
    } else if (choice != 0) {
      return false;
    }
    if (driver_ == Driver::kAsleep) WakeDriver(scenario, me);
  }
  return true;
}

// RunOrPost.
bool DriveWorld::StepAsking(const DriveScenario& scenario, int actor, Actor& me, int choice) {
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
    case At::kAsked: {
      const bool leaves =
          actor != kOutside && turns_.visitor_drives() &&
          (driver_ == Driver::kAwake || scenario.mistake == DriveMistake::kLeavesOutput);
      if (choice != 0 && !leaves) return false;
      // Among many it leaves its request where it may.
      if (choice != 0 || !leaves) {
        Flush();
        if (user_ || (driver_ == Driver::kNone && needs_)) WakeDriver(scenario, me);
      }
      me.at = At::kAskEnds;
      return true;
    }
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
      me.at = At::kWoken;
      return true;
    case At::kWoken:
      me.at = At::kLookForNotice;
      return true;
    case At::kLookForNotice:
      break;
    case At::kFutex:
      if (scenario.mistake == DriveMistake::kLooksTooLate) me.stale = false;
      me.at = me.stale ? At::kWoken : At::kAsleep;
      return true;
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
      return AfterTurn(actor, me);
    case At::kPrepare:
      if (!Hold(actor)) return false;
      me.at = At::kLookAgain;
      driver_ = Driver::kAsleep;
      if (!user_ && (queued_ == 0 || scenario.mistake == DriveMistake::kSleepsOnOutput))
        return true;
      break;
    case At::kLookAgain:
      if (tasks_ != 0) break;
      LetGo(me);
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
  LetGo(me);
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
      me.rest = !user_ && !needs_ && queued_ == 0;
      me.at = At::kAloneLook;
      if (me.rest) driver_ = Driver::kNone;
      return true;
    case At::kAloneLook:
      if (me.rest && tasks_ != 0 && scenario.mistake != DriveMistake::kNoSecondLook) {
        me.rest = false;
        driver_ = Driver::kAwake;
      }
      LetGo(me);
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
  if (at < At::kSpin || at > At::kAsleep) wrong_ = "the drive goes to a caller that is gone";
  words_[caller] |= kDrives;
  if ((words_[caller] & kSleeps) != 0) me.wakes |= static_cast<uint8_t>(1 << caller);
}

}  // namespace farcall
