// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_TRANSPORT_LINK_STREAM_FRAMES_FRAME_PARTS_H_
#define FARCALL_TRANSPORT_LINK_STREAM_FRAMES_FRAME_PARTS_H_

#include <cstddef>
#include <cstdint>

#include "absl/status/statusor.h"
#include "transport/buffer/buffer.h"
#include "transport/link/stream/frames/frame.h"

namespace farcall {

// Cuts frames as CutLinkFrame does, but a DATA frame that is not complete in parts: each a DATA
// frame of its own, which says the same of its bytes. So what comes of a large frame is read while
// the rest is on its way, and may say where the rest shall land. Pure.
class FrameParts {
 public:
  // As CutLinkFrame.
  absl::StatusOr<size_t> Cut(Buffer& input, LinkFrame& frame) {
    // As after each frame that came alone.
    if (input.empty()) return left_ == 0 ? kLinkHeaderSize : left_;
    return CutSome(input, frame);
  }

  // Bytes that are still to come of the DATA frame that was begun; 0: a header comes next.
  size_t left() const { return left_; }
  // Of the first of them.
  uint64_t offset() const { return offset_; }

 private:
  absl::StatusOr<size_t> CutSome(Buffer& input, LinkFrame& frame);

  size_t left_ = 0;
  uint64_t offset_ = 0;
  uint64_t acknowledged_ = 0;
};

}  // namespace farcall

#endif  // FARCALL_TRANSPORT_LINK_STREAM_FRAMES_FRAME_PARTS_H_
