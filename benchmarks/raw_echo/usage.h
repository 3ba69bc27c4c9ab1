// SPDX-License-Identifier: Apache-2.0
//
// How a client learns the server's CPU time: one frame on a connection of its own.

#ifndef FARCALL_BENCHMARKS_RAW_ECHO_USAGE_H_
#define FARCALL_BENCHMARKS_RAW_ECHO_USAGE_H_

#include <string>

#include "absl/status/statusor.h"
#include "benchmarks/common/cpu_usage.h"
#include "benchmarks/raw_echo/frame_buffer.h"

namespace farcall::bench {

// Connects, asks, closes; blocks for at most 10 s. Errors name the address.
absl::StatusOr<CpuSample> AskUsage(const std::string& address);

// The server's part: writes this process's reading into the frame if it asks for one.
void AnswerIfUsage(Frame& frame);

}  // namespace farcall::bench

#endif  // FARCALL_BENCHMARKS_RAW_ECHO_USAGE_H_
