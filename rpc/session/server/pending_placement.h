// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_RPC_SESSION_SERVER_PENDING_PLACEMENT_H_
#define FARCALL_RPC_SESSION_SERVER_PENDING_PLACEMENT_H_

#include <mutex>
#include <optional>
#include <utility>

#include "rpc/attachment_placer.h"
#include "transport/base/threads/spin_lock.h"

namespace farcall {

// Between a placer, which answers on any thread, and the loop that has asked it, which may not want
// to know any more: exactly one of them has the memory in the end.
class PendingPlacement {
 public:
  enum class Verdict { kKept, kDeliver, kLate };

  // The placer's, once. kKept: TakeIfAnswered has it. kDeliver: who answers brings `answer` to the
  // loop, where it is awaited. kLate: it is not wanted any more.
  Verdict Answer(Placement& answer) {
    const std::lock_guard<SpinLock> lock(lock_);
    if (state_ == State::kOver) return Verdict::kLate;
    if (std::exchange(state_, State::kAnswered) == State::kOpen) return Verdict::kDeliver;
    answer_ = std::move(answer);
    return Verdict::kKept;
  }
  // The loop's, when Place has returned: what it has answered by now. None: it will answer.
  std::optional<Placement> TakeIfAnswered() {
    const std::lock_guard<SpinLock> lock(lock_);
    if (state_ == State::kAnswered) return std::move(answer_);
    state_ = State::kOpen;
    return std::nullopt;
  }
  // The loop's, afterwards. False: the answer is on its way.
  bool Withdraw() {
    const std::lock_guard<SpinLock> lock(lock_);
    if (state_ == State::kAnswered) return false;
    state_ = State::kOver;
    return true;
  }

 private:
  enum class State { kAsking, kOpen, kAnswered, kOver };

  SpinLock lock_;
  // Guarded by lock_.
  State state_ = State::kAsking;
  std::optional<Placement> answer_;
};

}  // namespace farcall

#endif  // FARCALL_RPC_SESSION_SERVER_PENDING_PLACEMENT_H_
