// SPDX-License-Identifier: Apache-2.0
//
// Bytes read from a stream, cut into whole frames that lie next to each other, so that a
// server can send a batch of them back as it came, in one call and without a copy.
//
// Pure. Threads: none.

#ifndef FARCALL_BENCHMARKS_RAW_ECHO_FRAME_BUFFER_H_
#define FARCALL_BENCHMARKS_RAW_ECHO_FRAME_BUFFER_H_

#include <cstddef>
#include <memory>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "benchmarks/raw_echo/frame.h"

namespace farcall::bench {

struct Frame {
  FrameHeader header;
  absl::Span<char> body;  // valid until the next Space()
};

class FrameBuffer {
 public:
  // Grows to the largest frame that came, and no further. Half a MiB is what gives most
  // calls per second at 64 KiB each; only what is used of it becomes memory.
  explicit FrameBuffer(size_t bytes = size_t{512} << 10);

  // Where the next bytes go; never empty. Moves what is there, so it invalidates spans.
  absl::Span<char> Space();
  // So many of them are there now.
  void Commit(size_t bytes);

  // Cuts off the next frame if all of it is there. Call it until it says no. False and an
  // error in `bad` once a length is beyond FrameHeader::kMaxBody: the stream is lost.
  bool Next(Frame& frame);
  const absl::Status& bad() const { return bad_; }

  // The frames cut off and not dropped yet, whole and with their headers.
  absl::Span<const char> whole() const;
  // The first `bytes` of whole() are of no more use.
  void Drop(size_t bytes);

 private:
  size_t FrontFrameSize() const;
  void GrowTo(size_t bytes);

  size_t capacity_;
  std::unique_ptr<char[]> data_;
  size_t begin_ = 0;   // what is before it was dropped
  size_t cut_ = 0;     // the frames before it were cut off
  size_t filled_ = 0;  // bytes are there up to here
  absl::Status bad_;
};

}  // namespace farcall::bench

#endif  // FARCALL_BENCHMARKS_RAW_ECHO_FRAME_BUFFER_H_
