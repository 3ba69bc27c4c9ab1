// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_RPC_WIRE_OVERSIZED_FRAME_H_
#define FARCALL_RPC_WIRE_OVERSIZED_FRAME_H_

#include <cstddef>

#include "absl/status/statusor.h"
#include "rpc/wire/frame.h"
#include "transport/buffer/buffer.h"

namespace farcall {

// Frames with a body over the receiver's limit, one after the other. Such a frame fails one call,
// which its meta names; the rest of it is dropped as it comes, so that the frames behind it are
// read as ever. Pure; one thread at a time.
class OversizedFrame {
 public:
  // After CutFrame has said kResourceExhausted of the front of `input`. 0: such a frame begins
  // there, and `frame` has its meta and sizes; Skip takes it off. Else as PeekMeta, errors of
  // other limits among them.
  absl::StatusOr<size_t> Meet(const Buffer& input, const FrameLimits& limits, Frame& frame);
  // The frame at the front, of so many bytes, is not wanted either.
  void Drop(size_t frame) { left_ = frame; }
  // Whether reading all of it takes less than closing the connection would. Since Meet.
  bool worth_skipping() const { return worth_skipping_; }
  // Drops what has come of the frame. False: the rest is still to come, and `input` is empty.
  bool Skip(Buffer& input) { return !skipping() || SkipPart(input); }
  bool skipping() const { return left_ > 0; }

 private:
  bool SkipPart(Buffer& input);

  size_t left_ = 0;  // bytes of the frame at the front; 0: there is none
  bool worth_skipping_ = true;
};

}  // namespace farcall

#endif  // FARCALL_RPC_WIRE_OVERSIZED_FRAME_H_
