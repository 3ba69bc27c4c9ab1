// SPDX-License-Identifier: Apache-2.0
//
// One state of the model of a loop's hand-over: what user code does, where each thread is.

#ifndef FARCALL_TRANSPORT_LOOP_DRIVE_CLAIM_MODEL_WORLD_TESTING_H_
#define FARCALL_TRANSPORT_LOOP_DRIVE_CLAIM_MODEL_WORLD_TESTING_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "transport/loop/drive/driver_claim.h"

namespace farcall {

// What a piece of user code does: `of` is a piece for kAwaitRun, else its own output's number.
enum class ClaimOp : uint8_t { kWrite, kAwaitFlush, kAwaitRun, kBlock };
struct ClaimAct {
  ClaimOp op;
  size_t of = 0;
};
using ClaimScript = std::vector<std::vector<ClaimAct>>;  // of each piece, in their order

constexpr size_t kClaimModelSize = 3;  // seats, pieces and outputs

enum class ClaimAt : uint8_t {
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
enum class ClaimMistake : uint8_t { kNone, kSleepsWithoutALook, kNextDriverDoesNotFlush };

template <typename TestedClaim>
struct ClaimWorld {
  struct Seat {
    ClaimAt at = ClaimAt::kStandBy;
    bool driving = false;
    DriverClaim::Piece token = 0;
    size_t piece = 0;  // of the script
    size_t act = 0;
  };
  TestedClaim claim;
  ClaimLook look;
  std::array<Seat, kClaimModelSize> seats{};
  ClaimAt monitor = ClaimAt::kLook;
  DriverClaim::Piece seen = 0;  // by the monitor, as long
  bool asleep = false;          // the loop's driver
  bool monitor_asleep = false;
  bool monitor_woken = false;
  int driver_mutex = -1;  // who holds it over several steps; kClaimModelSize: the monitor
  bool drive_free = true;
  int standing_by = 0;
  uint64_t posted = 0;  // pieces, by somebody outside
  uint64_t taken = 0;   // of them, by drivers
  uint64_t due = 0;
  std::array<bool, kClaimModelSize> pending{};  // output that was written and not flushed
  std::array<bool, kClaimModelSize> flushed{};
  std::array<int, kClaimModelSize> ran{};

  // All of it. The numbers are small.
  std::string Key() const {
    std::string key;
    const auto add = [&key](auto part) { key.push_back(static_cast<char>(part)); };
    for (size_t i = 0; i < kClaimModelSize; ++i) {
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

  // Of the threads, by their addresses.
  static constexpr std::array<char, kClaimModelSize> kNames{};
};

}  // namespace farcall

#endif  // FARCALL_TRANSPORT_LOOP_DRIVE_CLAIM_MODEL_WORLD_TESTING_H_
