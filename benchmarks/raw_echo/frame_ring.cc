// SPDX-License-Identifier: Apache-2.0

#include "benchmarks/raw_echo/frame_ring.h"

#include <algorithm>
#include <cstring>

namespace farcall::bench {
namespace {

// About what stays in a cache while it is sent; a frame that is larger has the ring to itself.
constexpr size_t kMaxRingBytes = size_t{1} << 20;

uint64_t FramesIn(size_t frame_bytes, int in_flight) {
  const uint64_t fit = std::max<uint64_t>(1, kMaxRingBytes / frame_bytes);
  return std::min(fit, static_cast<uint64_t>(in_flight));
}

}  // namespace

FrameRing::FrameRing(size_t body, int in_flight, uint32_t kind, size_t answer)
    : frame_bytes_(sizeof(FrameHeader) + body),
      frames_(FramesIn(frame_bytes_, in_flight)),
      data_(frames_ * frame_bytes_, 'x') {
  for (uint64_t i = 0; i < frames_; ++i) {
    FrameHeader header;
    header.length = static_cast<uint32_t>(body);
    header.kind = kind;
    header.id = static_cast<uint32_t>(i);
    header.answer = static_cast<uint32_t>(answer);
    std::memcpy(data_.data() + i * frame_bytes_, &header, sizeof(header));
  }
}

absl::Span<const char> FrameRing::Unsent() const {
  const uint64_t left = issued_ * frame_bytes_ - sent_bytes_;
  const uint64_t at = sent_bytes_ % data_.size();
  return {data_.data() + at, std::min<uint64_t>(left, data_.size() - at)};
}

}  // namespace farcall::bench
