// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_RPC_SESSION_PLACED_RANGE_H_
#define FARCALL_RPC_SESSION_PLACED_RANGE_H_

#include <algorithm>
#include <cstddef>

namespace farcall {

// Which bytes of the frame at the front of the input, which is not whole yet, are an attachment
// that has a place of its own. Pure.
class PlacedRange {
 public:
  struct Part {
    size_t offset = 0;  // in the attachment
    size_t bytes = 0;   // 0: nothing lands
  };

  // A frame of `frame` bytes that ends with `attachment` (<= frame) of them.
  void Set(size_t frame, size_t attachment) {
    begin_ = frame - attachment;
    end_ = frame;
  }
  void Clear() { *this = PlacedRange(); }

  size_t attachment() const { return end_ - begin_; }

  // `came` bytes of the frame are there, of the `need` that it has. Returns how many to wait for:
  // at first those before the attachment, so that no more of it is read ahead than what comes with
  // its head.
  size_t Await(size_t came, size_t need) {
    came_ = came;
    return came < begin_ ? begin_ : need;
  }
  // What of the next bytes lands, counted from `ahead` behind those that came.
  Part Next(size_t ahead, size_t bytes) const {
    const size_t at = came_ + ahead;
    if (at < begin_ || at >= end_) return {};
    return {at - begin_, std::min(bytes, end_ - at)};
  }

 private:
  size_t begin_ = 0;
  size_t end_ = 0;
  size_t came_ = 0;
};

}  // namespace farcall

#endif  // FARCALL_RPC_SESSION_PLACED_RANGE_H_
