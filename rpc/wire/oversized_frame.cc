// SPDX-License-Identifier: Apache-2.0

#include "rpc/wire/oversized_frame.h"

#include <algorithm>

namespace farcall {
namespace {

// A connection carries other calls, which closing fails: the larger of the two is read for them.
constexpr size_t kSkippedBytes = size_t{64} << 20;
constexpr size_t kSkippedTimesTheLimit = 4;

}  // namespace

absl::StatusOr<size_t> OversizedFrame::Meet(const Buffer& input, const FrameLimits& limits,
                                            Frame& frame) {
  const FrameLimits any_body{.max_body_size = UINT32_MAX, .max_meta_size = limits.max_meta_size};
  const absl::StatusOr<size_t> peeked = PeekMeta(input, any_body, frame);
  if (!peeked.ok() || *peeked != 0) return peeked;
  left_ = kFrameHeaderSize + frame.body_size;
  worth_skipping_ =
      frame.body_size <= std::max(kSkippedBytes, kSkippedTimesTheLimit * limits.max_body_size);
  return 0;
}

bool OversizedFrame::SkipPart(Buffer& input) {
  const size_t come = std::min(left_, input.size());
  input.RemoveFront(come);
  left_ -= come;
  return left_ == 0;
}

}  // namespace farcall
