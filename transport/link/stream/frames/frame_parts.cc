// SPDX-License-Identifier: Apache-2.0

#include "transport/link/stream/frames/frame_parts.h"

#include <algorithm>

namespace farcall {

absl::StatusOr<size_t> FrameParts::CutSome(Buffer& input, LinkFrame& frame) {
  if (left_ == 0) {
    const auto needed = CutLinkFrame(input, frame);
    if (!needed.ok() || *needed == 0 || !CutDataHeader(input, frame)) return needed;
    left_ = *needed - kLinkHeaderSize;
    offset_ = frame.offset;
    acknowledged_ = frame.acknowledged;
  }
  if (input.empty()) return left_;
  const size_t bytes = std::min(left_, input.size());
  frame = {.type = LinkFrameType::kData,
           .offset = offset_,
           .acknowledged = acknowledged_,
           .payload = input.CutFront(bytes)};
  left_ -= bytes;
  offset_ += bytes;
  return 0;
}

}  // namespace farcall
