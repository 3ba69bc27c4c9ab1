// SPDX-License-Identifier: Apache-2.0
//
// For the tests of link frames: what a receiver makes of any bytes, and what must hold then.

#ifndef FARCALL_TRANSPORT_LINK_STREAM_FRAMES_FRAME_TESTING_H_
#define FARCALL_TRANSPORT_LINK_STREAM_FRAMES_FRAME_TESTING_H_

#include <cstddef>
#include <cstring>
#include <memory>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "transport/base/check.h"
#include "transport/buffer/block_pool.h"
#include "transport/buffer/buffer.h"
#include "transport/link/stream/frames/frame.h"

namespace farcall::testing {

// `bytes` in slices of `piece` (> 0), each in an allocation of just its size, so that
// AddressSanitizer sees a byte read too many.
inline Buffer LinkBytesInPieces(absl::string_view bytes, size_t piece) {
  Buffer buffer;
  while (!bytes.empty()) {
    const absl::string_view part = bytes.substr(0, piece);
    char* const copy = new char[part.size()];
    std::memcpy(copy, part.data(), part.size());
    buffer.AppendUserData(copy, part.size(), [copy] { delete[] copy; });
    bytes.remove_prefix(part.size());
  }
  return buffer;
}

inline std::string LinkFrameText(const LinkFrame& frame) {
  return absl::StrCat(Name(frame.type), " ", frame.offset, " ", frame.acknowledged, " ",
                      frame.number, " ", frame.arrival, " \"", frame.payload.ToString(), "\"\n");
}

inline LinkFrame Copy(const LinkFrame& frame) {
  return {.type = frame.type,
          .offset = frame.offset,
          .acknowledged = frame.acknowledged,
          .number = frame.number,
          .arrival = frame.arrival,
          .payload = frame.payload.Share()};
}

// The frames in `bytes`, and how it ended, as text. Checks that the input loses nothing or a
// whole frame, and that what was cut is written again as it was.
inline std::string LinkFrameOutcome(absl::string_view bytes, size_t piece, BlockPool& pool) {
  Buffer input = LinkBytesInPieces(bytes, piece);
  LinkFrameWriter writer(pool);
  std::string outcome;
  for (;;) {
    const size_t before = input.size();
    LinkFrame frame;
    const auto needed = CutLinkFrame(input, frame);
    if (!needed.ok() || *needed > 0) {
      Check(input.size() == before, "an incomplete or refused frame stays where it is");
      Check(!needed.ok() || *needed > before, "more bytes are asked for than there are");
      return absl::StrCat(outcome, needed.status().ToString(), " ", needed.value_or(0));
    }
    const std::string again = writer.Encode(Copy(frame)).ToString();
    Check(again == bytes.substr(bytes.size() - before, before - input.size()),
          "a frame is written as it came");
    absl::StrAppend(&outcome, LinkFrameText(frame));
  }
}

}  // namespace farcall::testing

#endif  // FARCALL_TRANSPORT_LINK_STREAM_FRAMES_FRAME_TESTING_H_
