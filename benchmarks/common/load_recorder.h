// SPDX-License-Identifier: Apache-2.0
//
// What one worker saw. A call counts if it ends within the measured window; what ends in
// the warmup before it, or after it, does not.
//
// Pure. Threads: none; one for each worker, merged when the workers have ended.

#ifndef FARCALL_BENCHMARKS_COMMON_LOAD_RECORDER_H_
#define FARCALL_BENCHMARKS_COMMON_LOAD_RECORDER_H_

#include <chrono>
#include <cstdint>
#include <string>

#include "absl/strings/string_view.h"
#include "benchmarks/common/figures/latency_histogram.h"
#include "benchmarks/common/load_options.h"

namespace farcall::bench {

struct LoadWindow {
  using Time = std::chrono::steady_clock::time_point;

  Time start;  // load begins
  Time begin;  // measuring begins
  Time end;    // measuring ends; no call begins after it

  static LoadWindow From(Time start, const LoadOptions& options);
  bool Over(Time now) const { return now >= end; }
  bool Measures(Time now) const { return now >= begin && now < end; }
};

class LoadRecorder {
 public:
  using Time = LoadWindow::Time;

  explicit LoadRecorder(const LoadWindow& window) : window_(window) {}

  const LoadWindow& window() const { return window_; }

  // `start`: when the call was to begin (open loop), or began (closed loop).
  void Succeeded(Time start, Time end);
  // Errors count in the warmup too; the first one's text is kept.
  void Failed(absl::string_view error);

  void Merge(const LoadRecorder& other);

  const LatencyHistogram& latency() const { return latency_; }
  uint64_t errors() const { return errors_; }
  const std::string& first_error() const { return first_error_; }

 private:
  LoadWindow window_;
  LatencyHistogram latency_;
  uint64_t errors_ = 0;
  std::string first_error_;
};

}  // namespace farcall::bench

#endif  // FARCALL_BENCHMARKS_COMMON_LOAD_RECORDER_H_
