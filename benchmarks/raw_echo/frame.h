// SPDX-License-Identifier: Apache-2.0
//
// The least that frames messages on a stream: this header, then the body. Both ends run on
// one kind of machine, so numbers are in its own byte order.

#ifndef FARCALL_BENCHMARKS_RAW_ECHO_FRAME_H_
#define FARCALL_BENCHMARKS_RAW_ECHO_FRAME_H_

#include <cstddef>
#include <cstdint>

namespace farcall::bench {

struct FrameHeader {
  static constexpr uint32_t kEcho = 1;
  // The server fills the body, of sizeof(CpuSample) bytes, with its CPU reading.
  static constexpr uint32_t kUsage = 2;
  // A put or a get: the body comes to lie in memory of the server, which answers with `answer`
  // bytes of it.
  static constexpr uint32_t kStore = 3;
  // --payload and --attachment at their most.
  static constexpr size_t kMaxBody = size_t{2} << 30;

  uint32_t length = 0;  // of the body, bytes
  uint32_t kind = kEcho;
  uint32_t id = 0;      // chosen by the client, sent back
  uint32_t answer = 0;  // bytes of the body that is asked for by kStore
};
static_assert(sizeof(FrameHeader) == 16);

}  // namespace farcall::bench

#endif  // FARCALL_BENCHMARKS_RAW_ECHO_FRAME_H_
