// SPDX-License-Identifier: Apache-2.0

#include "transport/carrier/framed_backlog.h"

#include <algorithm>

namespace farcall {

void FramedBacklog::Add(size_t own, size_t bytes, size_t waiting) {
  // Half of them at once, so that no frame is moved more than once on average.
  const size_t left = FirstWaiting(waiting);
  if (2 * left >= frames_.size()) {
    frames_.erase(frames_.begin(), frames_.begin() + static_cast<ptrdiff_t>(left));
  }
  given_ += bytes;
  if (own == 0) return;
  own_ += own;
  frames_.push_back({.end = given_, .own = own, .own_end = own_});
}

size_t FramedBacklog::Own(size_t waiting) const {
  const size_t first = FirstWaiting(waiting);
  if (first == frames_.size()) return 0;
  const Frame& partly = frames_[first];
  const uint64_t of_it = partly.end - (given_ - std::min<uint64_t>(given_, waiting));
  return own_ - partly.own_end + std::min(partly.own, of_it);
}

size_t FramedBacklog::FirstWaiting(size_t waiting) const {
  // Below there may be something from before the first frame.
  const uint64_t left = given_ - std::min<uint64_t>(given_, waiting);
  if (left == given_) return frames_.size();
  const auto first = std::partition_point(frames_.begin(), frames_.end(),
                                          [left](const Frame& frame) { return frame.end <= left; });
  return static_cast<size_t>(first - frames_.begin());
}

}  // namespace farcall
