// SPDX-License-Identifier: Apache-2.0

#include "benchmarks/common/figures/call_tally.h"

#include <utility>

namespace farcall::bench {

void CallCounts::Fail(int code, absl::string_view text) {
  const bool room = errors.size() < kMaxCodes || errors.count(code) != 0;
  Failures& failures = errors[room ? code : kOther];
  if (failures.calls++ == 0) failures.first_text = std::string(text);
}

void CallCounts::Merge(const CallCounts& other) {
  latency.Merge(other.latency);
  for (const auto& [code, failures] : other.errors) {
    const bool room = errors.size() < kMaxCodes || errors.count(code) != 0;
    Failures& mine = errors[room ? code : kOther];
    if (mine.calls == 0) mine.first_text = failures.first_text;
    mine.calls += failures.calls;
  }
}

uint64_t CallCounts::failed() const {
  uint64_t calls = 0;
  for (const auto& [code, failures] : errors) calls += failures.calls;
  return calls;
}

void CallTally::Record(Time begun, Time ended, int code, absl::string_view text) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (code == 0) {
    counts_.latency.Record(ended - begun);
  } else {
    counts_.Fail(code, text);
  }
}

CallCounts CallTally::Take() {
  CallCounts fresh;
  const std::lock_guard<std::mutex> lock(mutex_);
  std::swap(fresh, counts_);
  return fresh;
}

}  // namespace farcall::bench
