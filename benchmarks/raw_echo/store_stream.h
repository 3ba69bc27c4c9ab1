// SPDX-License-Identifier: Apache-2.0
//
// The server's side of a connection that puts into memory and gets from it: what comes is read to
// where it stays, and what is asked for is sent from there. While an answer is not all sent,
// nothing is read.
//
// Threads: one at a time.

#ifndef FARCALL_BENCHMARKS_RAW_ECHO_STORE_STREAM_H_
#define FARCALL_BENCHMARKS_RAW_ECHO_STORE_STREAM_H_

#include <memory>

#include "benchmarks/raw_echo/placed_reader.h"

namespace farcall::bench {

class StoreStream {
 public:
  // `fd` stays the caller's.
  explicit StoreStream(int fd);

  // As of EchoStream.
  bool Turn(int flags);

 private:
  bool Send(int flags);

  const int fd_;
  PlacedReader reader_;
  const std::unique_ptr<char[]> values_;
  size_t next_value_ = 0;
  FrameHeader answer_;
  size_t unsent_ = 0;  // bytes of the answer, header and body
};

}  // namespace farcall::bench

#endif  // FARCALL_BENCHMARKS_RAW_ECHO_STORE_STREAM_H_
