// SPDX-License-Identifier: Apache-2.0
//
// What a client sends: frames of one size, built once. They come round and round from a
// buffer of a few, so a call costs its send no more than its bytes.
//
// Pure. Threads: none.

#ifndef FARCALL_BENCHMARKS_RAW_ECHO_FRAME_RING_H_
#define FARCALL_BENCHMARKS_RAW_ECHO_FRAME_RING_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/types/span.h"
#include "benchmarks/raw_echo/frame.h"

namespace farcall::bench {

class FrameRing {
 public:
  // `body`: bytes of each, at most FrameHeader::kMaxBody. `in_flight`: as many are enough;
  // large frames get by with fewer. `kind` and `answer`: of their headers.
  FrameRing(size_t body, int in_flight, uint32_t kind = FrameHeader::kEcho, size_t answer = 0);

  size_t frame_bytes() const { return frame_bytes_; }
  // The id that frame number `call`, from 0, bears.
  uint64_t IdOf(uint64_t call) const { return call % frames_; }

  // One more frame is to be sent.
  void Issue() { ++issued_; }
  uint64_t issued() const { return issued_; }
  // Bytes that are to be sent next; empty when all is sent. Up to the end of the ring, so
  // ask again after Sent.
  absl::Span<const char> Unsent() const;
  void Sent(size_t bytes) { sent_bytes_ += bytes; }

 private:
  const size_t frame_bytes_;
  const uint64_t frames_;
  std::vector<char> data_;
  uint64_t issued_ = 0;
  uint64_t sent_bytes_ = 0;
};

}  // namespace farcall::bench

#endif  // FARCALL_BENCHMARKS_RAW_ECHO_FRAME_RING_H_
