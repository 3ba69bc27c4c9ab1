// SPDX-License-Identifier: Apache-2.0
//
// The client's side of one connection: keeps calls under way and times them. The clock is
// read once a turn, so all calls that one read answers end at the same time.
//
// Threads: one at a time.

#ifndef FARCALL_BENCHMARKS_RAW_ECHO_LOAD_STREAM_H_
#define FARCALL_BENCHMARKS_RAW_ECHO_LOAD_STREAM_H_

#include <chrono>
#include <cstdint>
#include <optional>
#include <vector>

#include "benchmarks/common/load_options.h"
#include "benchmarks/common/load_recorder.h"
#include "benchmarks/common/open_loop_schedule.h"
#include "benchmarks/raw_echo/frame_buffer.h"
#include "benchmarks/raw_echo/frame_ring.h"
#include "benchmarks/raw_echo/placed_reader.h"
#include "transport/base/unique_fd.h"

namespace farcall::bench {

class LoadStream {
 public:
  using Time = LoadWindow::Time;

  // `recorder` outlives the stream. `schedule`: the arrivals of an open loop.
  LoadStream(UniqueFd fd, const LoadOptions& options, LoadRecorder& recorder,
             std::optional<OpenLoopSchedule> schedule);

  // Begins the calls that are due, sends, reads, ends calls. Blocks, for up to 0.1 s, only
  // if it `may_block`. False when the window is over or the connection failed, which is
  // recorded.
  bool Turn(bool may_block);

 private:
  uint64_t outstanding() const { return ring_.issued() - ended_; }
  void BeginCalls();
  bool Send();
  // Waits until there is something to read, to send or to begin, and returns the flags
  // with which to read.
  int Wait();
  bool Receive(int flags);
  bool EndCalls();
  bool NextAnswer(FrameHeader& header);
  bool Fail(const std::string& why);

  const UniqueFd fd_;
  const uint64_t in_flight_;
  LoadRecorder& recorder_;
  std::optional<OpenLoopSchedule> schedule_;
  FrameRing ring_;
  const size_t answer_bytes_;
  FrameBuffer buffer_;
  std::optional<PlacedReader> placed_;  // instead of it: of gets, which stay where they come
  std::vector<Time> starts_;            // of call number i, at i % in_flight_
  uint64_t ended_ = 0;
  Time now_;
  Time last_answer_;
};

}  // namespace farcall::bench

#endif  // FARCALL_BENCHMARKS_RAW_ECHO_LOAD_STREAM_H_
