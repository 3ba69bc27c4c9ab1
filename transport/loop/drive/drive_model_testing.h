// SPDX-License-Identifier: Apache-2.0
//
// A model of all that takes part in the drive of a loop: its thread, two callers that wait for
// answers, somebody from outside, and a network. Each step is what one of them does at once: with a
// mutex held, or by one atomic operation. DriveTurns is the real one.

#ifndef FARCALL_TRANSPORT_LOOP_DRIVE_DRIVE_MODEL_TESTING_H_
#define FARCALL_TRANSPORT_LOOP_DRIVE_DRIVE_MODEL_TESTING_H_

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "transport/loop/drive/drive_turns.h"

namespace farcall {

// What the one from outside does: each as RunOrPost, but for kPost.
enum class DriveVisit : uint8_t { kPost, kQueueUserCode, kCallWithClosure, kCancel };

// Mistakes in the steps, which the model must find.
enum class DriveMistake : uint8_t {
  kNone,
  kNoSecondLook,      // at the mailbox, once the loop is left alone
  kNoForget,          // of a caller whose call has ended
  kNoWant,            // work that comes where no thread drives wakes none
  kSleepsThoughDone,  // no look at the answer before a sleep in epoll_wait
  kLeavesWithDrive,   // a caller that gets its answer does not look whether it has the drive
  kLeavesOutput,      // a caller leaves its request to a visitor that sleeps
  kSleepsOnOutput,    // no look at what is queued before a sleep in epoll_wait
  kLooksTooLate,      // who falls asleep looks for wakes once it has looked for its notice
};

struct DriveScenario {
  std::array<int, 2> calls{};  // of each caller, one after the other
  std::vector<DriveVisit> visits = {};
  bool hang_up = false;  // a peer hangs up at any time, for which no caller waits
  DriveMistake mistake = DriveMistake::kNone;
};

struct DriveFindings {
  std::string violation;  // empty: there is none
  size_t states = 0;
  size_t ends = 0;  // states in which all has come to rest
};

// Every order of the steps.
DriveFindings ExploreDrive(const DriveScenario& scenario);

}  // namespace farcall

#endif  // FARCALL_TRANSPORT_LOOP_DRIVE_DRIVE_MODEL_TESTING_H_
