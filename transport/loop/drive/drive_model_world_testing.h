// SPDX-License-Identifier: Apache-2.0
//
// One state of the model of a loop's drive, and its steps.

#ifndef FARCALL_TRANSPORT_LOOP_DRIVE_DRIVE_MODEL_WORLD_TESTING_H_
#define FARCALL_TRANSPORT_LOOP_DRIVE_DRIVE_MODEL_WORLD_TESTING_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "transport/loop/drive/drive_model_testing.h"
#include "transport/loop/drive/drive_turns.h"

namespace farcall {

class DriveWorld {
 public:
  static constexpr int kThread = 0;
  static constexpr int kCallers = 2;  // 1 and 2
  static constexpr int kOutside = 3;
  static constexpr int kActors = 4;

  explicit DriveWorld(const DriveScenario& scenario);
  // Of two states it is the same if they are the same, and only then but for rare chance.
  size_t Fingerprint() const;

  // The next step of `actor`, which may have a choice. False: it has none, and nothing changes.
  bool Step(const DriveScenario& scenario, int actor, int choice);
  // An answer comes, or the hang-up, by its number. False: not now.
  bool Arrive(int bit);
  // The thread has been parked for its time. False: it has none.
  bool TimePasses();
  // Whether Step of `actor` may have a choice: whether it spins on, leaves its request to who
  // drives, or wakes a caller at once.
  bool Chooses(int actor) const {
    const Actor& me = actors_[actor];
    return me.at == At::kSpin || me.at == At::kAsked || me.ended != 0;
  }

  // What is wrong in this state; null: nothing.
  const char* Wrong() const;
  // What is wrong if nothing happens any more, but that time passes.
  const char* WrongAtRest() const;
  // And if not even that.
  const char* WrongAtEnd() const;

 private:
  // Where an actor is. kPrepare to kInEpoll: EventLoop::PrepareSleep and so on.
  enum class At : uint8_t {
    // A caller, and the one from outside.
    kAsk,
    kAsked,
    kAskEnds,
    kPosted,
    kArrive,
    // A caller that waits.
    kSpin,
    kFallAsleep,
    kWoken,  // or about to look whether it may sleep
    kLookForNotice,
    kFutex,
    kAsleep,
    // Who drives.
    kAttend,
    kTurn,
    kTurnEnds,
    kAfter,
    kPrepare,
    kLookAgain,
    kOver,
    kInEpoll,
    // A caller that drives; and both, in LeaveAlone and behind it.
    kLeave,
    kGive,
    kAlone,
    kAloneLook,
    kLeft,
    // The thread.
    kUser,
    kGiveAway,
    kMayGive,
    kKeep,
    kNext,
    kLook,
    kParked,
    kFinished,
  };
  enum class Driver : uint8_t { kAwake, kAsleep, kNone };
  struct Actor {
    At at = At::kFinished;
    uint8_t left = 0;    // what it has still to do after this
    uint8_t ended = 0;   // calls of which it is about to tell that they have ended
    uint8_t wakes = 0;   // callers that it is about to wake
    bool stale = false;  // somebody was woken since it looked at the number of wakes
    bool wants = false;  // it is about to call WantThread
    bool tells = false;  // it is about to notify the thread
    bool worked = false;
    bool rest = false;
  };
  // Bits of `tasks_`, `queued_`, `asked_` and `readable_`: of a caller 1 << its number.
  static constexpr uint8_t kClosure = 1 << 3;
  static constexpr uint8_t kHangUp = 1 << 4;
  static constexpr uint8_t kUser = 1 << 5;
  static constexpr uint8_t kCancel = 1 << 6;
  static constexpr uint8_t kPlain = 1 << 7;
  static constexpr uint8_t kCalls = 1 << 1 | 1 << 2;
  // Of a caller's word.
  static constexpr uint8_t kDone = 1;
  static constexpr uint8_t kDrives = 2;
  static constexpr uint8_t kSleeps = 4;

  bool StepSmall(const DriveScenario& scenario, Actor& me, int choice);
  bool StepAsking(const DriveScenario& scenario, int actor, Actor& me, int choice);
  bool StepWaiting(const DriveScenario& scenario, int actor, Actor& me, int choice);
  bool StepDriving(const DriveScenario& scenario, int actor, Actor& me);
  bool StepLeaving(const DriveScenario& scenario, int actor, Actor& me);
  bool StepThread(Actor& me);
  void Work(Actor& me, uint8_t work);
  void Collect(Actor& me);
  bool AfterTurn(int actor, Actor& me);
  void Flush();
  void WakeDriver(const DriveScenario& scenario, Actor& me);
  void Wait(int actor, Actor& me);
  void Notify(Actor& me, DriveTurns::Notice notice);
  void Settle(int actor, Actor& me);
  void Finish(int actor, Actor& me);
  void ForgetUnused(int actor, Actor& me);
  bool Hold(int actor);
  void LetGo(Actor& me);
  bool Drives(int actor) const;

  std::array<Actor, kActors> actors_;
  std::array<uint8_t, kActors> words_{};  // of callers
  uint8_t tasks_ = 0;
  uint8_t queued_ = 0;      // requests that are not flushed yet
  uint8_t asked_ = 0;       // on the way to an answer
  uint8_t readable_ = 0;    // answers that have come
  uint8_t held_ = kActors;  // who holds the loop
  uint8_t told_ = 0;        // callers to wake when it is let go
  Driver driver_ = Driver::kAwake;
  bool user_ = false;
  bool needs_ = false;  // EventLoop::thread_needed
  bool wake_fd_ = false;
  bool visited_ = false;
  bool spin_taken_ = false;
  bool hang_up_ = false;  // is still to come
  const char* wrong_ = nullptr;
  TimePoint now_{std::chrono::hours(1)};
  TimePoint until_{};
  DriveTurns turns_;
};

}  // namespace farcall

#endif  // FARCALL_TRANSPORT_LOOP_DRIVE_DRIVE_MODEL_WORLD_TESTING_H_
