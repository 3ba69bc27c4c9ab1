// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_TRANSPORT_LOOP_DRIVE_DRIVER_CLAIM_H_
#define FARCALL_TRANSPORT_LOOP_DRIVE_DRIVER_CLAIM_H_

#include <cstdint>

namespace farcall {

// The claim of a driver to its loop while user code runs: another thread may take the drive, as
// that code is about to block, or runs for long. Then the first runs its piece to the end, but
// drives no more. Pure; guarded by the loop's lock. claim_model_test.cc tries all interleavings.
class DriverClaim {
 public:
  using Thread = const void*;  // an address that is the thread's own
  using Piece = uint64_t;      // of user code; no number comes twice. 0: none

  // The driver begins a piece. `watched`: it counts as long when it runs for long.
  Piece Begin(Thread driver, bool watched) {
    Number(watched);
    driver_ = driver;
    return state_;
  }
  // Whether the driver that began `piece` (0: none, since it took the drive) still has the drive.
  bool Has(Piece piece) const { return piece == 0 || piece == state_; }
  // The driver runs no more user code in this turn; `piece` was the last. False: it has lost the
  // drive.
  bool End(Piece piece) { return piece == 0 || Take(piece); }
  // For another thread, which drives from now on. False: the piece has ended, or was taken before.
  bool Take(Piece piece) {
    if (piece != state_) return false;
    Number(/*watched=*/false);
    driver_ = nullptr;
    return true;
  }
  // Whether output of this thread may wait for the end of a turn: that of the driver.
  bool DefersOutput(Thread thread) const { return driver_ == thread; }

  // Another number means that user code began or ended, or that the drive was taken.
  Piece state() const { return state_; }
  // Of a state: a watched piece runs.
  static bool Watched(Piece state) { return (state & 1) != 0; }

 private:
  void Number(bool watched) { state_ = ((state_ >> 1) + 1) << 1 | static_cast<Piece>(watched); }

  Piece state_ = 0;
  Thread driver_ = nullptr;  // that runs user code
};

// What one who looks now and then sees of a DriverClaim. Pure; one thread at a time.
class ClaimLook {
 public:
  enum class Seen : uint8_t {
    kQuiet,  // no user code runs, and none began since the last look
    kMoved,
    kLong,  // a piece runs that ran at the last look already
  };
  Seen Look(DriverClaim::Piece state) {
    if (state != last_) {
      last_ = state;
      return Seen::kMoved;
    }
    return DriverClaim::Watched(state) ? Seen::kLong : Seen::kQuiet;
  }
  DriverClaim::Piece last() const { return last_; }

 private:
  DriverClaim::Piece last_ = 0;
};

}  // namespace farcall

#endif  // FARCALL_TRANSPORT_LOOP_DRIVE_DRIVER_CLAIM_H_
