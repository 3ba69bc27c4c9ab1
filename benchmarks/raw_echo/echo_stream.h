// SPDX-License-Identifier: Apache-2.0
//
// The server's side of one connection: reads, and sends the whole frames of what came back
// from where they lie. While they are not all sent, nothing is read.
//
// Threads: one at a time.

#ifndef FARCALL_BENCHMARKS_RAW_ECHO_ECHO_STREAM_H_
#define FARCALL_BENCHMARKS_RAW_ECHO_ECHO_STREAM_H_

#include <optional>
#include <utility>

#include "benchmarks/raw_echo/frame_buffer.h"
#include "benchmarks/raw_echo/store_stream.h"
#include "transport/base/unique_fd.h"

namespace farcall::bench {

class EchoStream {
 public:
  explicit EchoStream(UniqueFd fd) : fd_(std::move(fd)) {}

  // One read and one send, as far as there is something to do. `flags`: of recv(2) and
  // send(2): 0 blocks, MSG_DONTWAIT does not. False when the connection is of no more use.
  bool Turn(int flags);
  int fd() const { return fd_.get(); }

 private:
  // By its first bytes, which stay in the socket: one that puts or gets. False: it is over.
  bool LookAtFirst(int flags);
  bool Read(int flags);
  bool SendWhole(int flags);

  UniqueFd fd_;
  bool looked_ = false;
  std::optional<StoreStream> store_;
  FrameBuffer buffer_;
};

}  // namespace farcall::bench

#endif  // FARCALL_BENCHMARKS_RAW_ECHO_ECHO_STREAM_H_
