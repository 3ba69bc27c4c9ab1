// SPDX-License-Identifier: Apache-2.0

#include "benchmarks/common/load_recorder.h"

namespace farcall::bench {

LoadWindow LoadWindow::From(Time start, const LoadOptions& options) {
  using Seconds = std::chrono::duration<double>;
  const auto whole = [](double seconds) {
    return std::chrono::duration_cast<Time::duration>(Seconds(seconds));
  };
  const Time begin = start + whole(options.warmup);
  return {start, begin, begin + whole(options.seconds)};
}

void LoadRecorder::Succeeded(Time start, Time end) {
  if (window_.Measures(end)) {
    latency_.Record(end - start);
  }
}

void LoadRecorder::Failed(absl::string_view error) {
  if (errors_++ == 0) {
    first_error_ = std::string(error);
  }
}

void LoadRecorder::Merge(const LoadRecorder& other) {
  latency_.Merge(other.latency_);
  if (errors_ == 0) {
    first_error_ = other.first_error_;
  }
  errors_ += other.errors_;
}

}  // namespace farcall::bench
