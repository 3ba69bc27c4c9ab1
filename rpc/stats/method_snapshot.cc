// SPDX-License-Identifier: Apache-2.0

#include "rpc/stats/method_snapshot.h"

namespace farcall {
namespace {

template <typename Array>
void Add(const Array& more, Array& to) {
  for (size_t i = 0; i < to.size(); ++i) to[i] += more[i];
}

template <typename Array>
void Subtract(const Array& less, Array& from) {
  for (size_t i = 0; i < from.size(); ++i) from[i] -= less[i];
}

}  // namespace

uint64_t MethodSnapshot::ended_count() const { return Sum(ended); }
uint64_t MethodSnapshot::refused_count() const { return Sum(refused); }
uint64_t MethodSnapshot::errors() const { return Sum(ended) - ended[0] + Sum(refused); }

uint64_t MethodSnapshot::in_flight() const {
  const uint64_t over = Sum(ended);
  return started > over ? started - over : 0;
}

MethodSnapshot& MethodSnapshot::operator+=(const MethodSnapshot& other) {
  started += other.started;
  latency_ns += other.latency_ns;
  Add(other.ended, ended);
  Add(other.refused, refused);
  Add(other.latencies, latencies);
  return *this;
}

MethodSnapshot MethodSnapshot::Since(const MethodSnapshot& earlier) const {
  MethodSnapshot since = *this;
  since.started -= earlier.started;
  since.latency_ns -= earlier.latency_ns;
  Subtract(earlier.ended, since.ended);
  Subtract(earlier.refused, since.refused);
  Subtract(earlier.latencies, since.latencies);
  return since;
}

}  // namespace farcall
