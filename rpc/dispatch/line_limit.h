// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_RPC_DISPATCH_LINE_LIMIT_H_
#define FARCALL_RPC_DISPATCH_LINE_LIMIT_H_

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <optional>
#include <utility>

#include "transport/base/time.h"

namespace farcall {

// How many lines of a log others may cause: a few at once, then a few a second. Pure; one thread
// at a time.
class LineLimit {
 public:
  static constexpr int kAtOnce = 20;
  static constexpr Duration kOneEvery = std::chrono::milliseconds(200);

  // Null: the line is left out. Else how many were left out since the last that was not.
  std::optional<uint64_t> Take(TimePoint now) {
    // `free_at_` lies so far ahead as lines were written beyond their time.
    free_at_ = std::max(free_at_, now);
    if (free_at_ - now > (kAtOnce - 1) * kOneEvery) {
      ++left_out_;
      return std::nullopt;
    }
    free_at_ += kOneEvery;
    return std::exchange(left_out_, 0);
  }

 private:
  TimePoint free_at_ = TimePoint::min();
  uint64_t left_out_ = 0;
};

}  // namespace farcall

#endif  // FARCALL_RPC_DISPATCH_LINE_LIMIT_H_
