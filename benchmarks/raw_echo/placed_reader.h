// SPDX-License-Identifier: Apache-2.0
//
// Reads frames of a stream, each body to the place in memory where it stays: no byte of one is
// copied but by the kernel. A frame's rest and the next one's header come by one system call.
//
// Threads: one at a time.

#ifndef FARCALL_BENCHMARKS_RAW_ECHO_PLACED_READER_H_
#define FARCALL_BENCHMARKS_RAW_ECHO_PLACED_READER_H_

#include <sys/types.h>

#include <cstddef>
#include <memory>

#include "benchmarks/raw_echo/frame.h"

namespace farcall::bench {

class PlacedReader {
 public:
  // Bodies lie one behind the other in so many bytes, and from the beginning again where one does
  // not fit any more.
  explicit PlacedReader(size_t memory);

  // One recvmsg(2), and what that returns: 0 at the stream's end. -1 with EMSGSIZE: a body is empty
  // or larger than the memory; the stream is lost.
  ssize_t Read(int fd, int flags);
  // The header of the frame that is all there; at most one after each Read.
  bool Next(FrameHeader& header);

 private:
  // False: its body has no place.
  bool BeginBody();

  const size_t size_;
  const std::unique_ptr<char[]> memory_;
  size_t place_ = 0;    // of the body that is being read
  FrameHeader header_;  // its header, or as much as has come of it
  size_t got_header_ = 0;
  size_t got_body_ = 0;
  bool whole_ = false;
  FrameHeader last_;  // of the frame that is whole_
};

}  // namespace farcall::bench

#endif  // FARCALL_BENCHMARKS_RAW_ECHO_PLACED_READER_H_
