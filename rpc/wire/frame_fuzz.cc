// SPDX-License-Identifier: Apache-2.0
//
// Any bytes as the stream of a connection. What must hold: nothing is read outside of the
// slices (each has an allocation of its own), the input loses nothing or a whole frame,
// pieces do not matter, and what was cut can be written and cut again.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "rpc/wire/frame.h"
#include "rpc/wire/frame_testing.h"
#include "rpc/wire/oversized_frame.h"
#include "rpc/wire/payload.h"
#include "transport/base/check.h"

namespace farcall {
namespace {

// Small enough that a whole input may be over them.
constexpr FrameLimits kLimits{.max_body_size = 1 << 10, .max_meta_size = 1 << 9};

void WriteAndCutAgain(const Frame& frame) {
  wire::RpcMeta meta = frame.meta;
  Buffer input(testing::Encode(meta, &frame.meta, frame.attachment.ToString()));
  Frame again;
  const auto needed = CutFrame(input, FrameLimits(), again);
  Check(needed.ok() && *needed == 0, "what was written can be cut");
  Check(input.empty(), "a frame is cut whole");
  Check(again.meta.ByteSizeLong() == meta.ByteSizeLong(), "the meta comes back");
  Check(again.attachment.ToString() == frame.attachment.ToString(), "the attachment comes back");
  wire::RpcMeta payload;
  Check(ParsePayload(again.payload, payload).ok(), "the payload comes back");
  Check(payload.ByteSizeLong() == frame.meta.ByteSizeLong(), "the payload comes back whole");
}

void CheckCut(const Frame& frame, size_t before, size_t after) {
  Check(before - after ==
            kFrameHeaderSize + frame.meta_size + frame.payload.size() + frame.attachment.size(),
        "a frame is its header, meta, payload and attachment");
  Check(frame.attachment.size() == static_cast<size_t>(frame.meta.attachment_size()),
        "the attachment is as large as the meta says");
}

// The frame at the front is over a limit: what its receiver does. 0: it goes on behind it.
absl::StatusOr<size_t> Meet(Buffer& input, Frame& frame, OversizedFrame& oversized) {
  const size_t before = input.size();
  const auto met = oversized.Meet(input, kLimits, frame);
  Check(input.size() == before, "looking at a meta takes nothing");
  if (!met.ok() || *met != 0) return met;
  Check(frame.body_size > kLimits.max_body_size, "the body is over the limit, not the meta");
  const bool all = oversized.Skip(input);
  Check(before - input.size() == std::min(before, kFrameHeaderSize + frame.body_size),
        "what has come of it is taken, and nothing else");
  Check(all == !oversized.skipping() && (all || input.empty()), "the rest is still to come");
  return 0;
}

// The frames in `bytes` and how it ended, as text.
std::string Outcome(absl::string_view bytes, size_t piece, bool write_again) {
  Buffer input = testing::InPieces(bytes, piece);
  Frame frame;
  OversizedFrame oversized;
  std::string outcome;
  for (;;) {
    const size_t before = input.size();
    Frame front;
    const auto peeked = PeekMeta(input, kLimits, front);
    Check(input.size() == before, "looking at a meta takes nothing");
    const auto needed = CutFrame(input, kLimits, frame);
    if (needed.ok() && *needed == 0) {
      Check(peeked.ok() && *peeked == 0, "what can be cut can be looked at");
      Check(front.meta_size == frame.meta_size, "and has the same meta");
    }
    if (absl::IsResourceExhausted(needed.status())) {
      const auto met = Meet(input, frame, oversized);
      if (met.ok() && *met == 0) {
        absl::StrAppend(&outcome, "too large: ", frame.body_size, "\n");
        if (!oversized.skipping()) continue;
      }
      return absl::StrCat(outcome, met.status().ToString(), met.value_or(0));
    }
    if (!needed.ok() || *needed > 0) {
      Check(input.size() == before, "an incomplete or refused frame stays where it is");
      Check(!needed.ok() || *needed > before, "more bytes are asked for than there are");
      return absl::StrCat(outcome, needed.status().ToString(), needed.value_or(0));
    }
    CheckCut(frame, before, input.size());
    testing::EchoMessage message;
    absl::StrAppend(&outcome, frame.meta.ByteSizeLong(), " ", frame.payload.ToString(),
                    frame.attachment.ToString(), ParsePayload(frame.payload, message).ToString(),
                    "\n");
    if (write_again) WriteAndCutAgain(frame);
  }
}

}  // namespace
}  // namespace farcall

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const absl::string_view bytes(reinterpret_cast<const char*>(data), size);
  const std::string whole = farcall::Outcome(bytes, size + 1, true);
  farcall::Check(farcall::Outcome(bytes, 13, false) == whole, "pieces do not matter");
  if (size <= 300) {
    farcall::Check(farcall::Outcome(bytes, 1, false) == whole, "single bytes do not matter");
  }
  return 0;
}
