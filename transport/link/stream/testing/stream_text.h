// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_TRANSPORT_LINK_STREAM_TESTING_STREAM_TEXT_H_
#define FARCALL_TRANSPORT_LINK_STREAM_TESTING_STREAM_TEXT_H_

#include <cstdint>
#include <string>

#include "absl/strings/str_cat.h"
#include "transport/link/stream/frames/frame.h"
#include "transport/link/stream/switching_stream.h"

namespace farcall {

// What the two sides of a simulated link say, and how a log names it.

// The byte at `offset` of what `side` says: shifted bytes do not pass for one another.
inline char StreamByte(int side, uint64_t offset) {
  uint64_t z = (offset + 1) * 0x9e3779b97f4a7c15ULL + static_cast<uint64_t>(side);
  z ^= z >> 29;
  return static_cast<char>(z * 0xbf58476d1ce4e5b9ULL >> 56);
}

inline std::string FrameText(const LinkFrame& frame) {
  std::string text(Name(frame.type));
  if (frame.number != 0) absl::StrAppend(&text, " #", frame.number);
  absl::StrAppend(&text, " at ", frame.offset);
  if (!frame.payload.empty()) absl::StrAppend(&text, "+", frame.payload.size());
  return absl::StrCat(text, " ack ", frame.acknowledged);
}

inline std::string LinkName(LinkId link) {
  return link == kLifeline ? "TCP" : absl::StrCat("G", link);
}

}  // namespace farcall

#endif  // FARCALL_TRANSPORT_LINK_STREAM_TESTING_STREAM_TEXT_H_
