// SPDX-License-Identifier: Apache-2.0

#include "benchmarks/common/figures/latency_histogram.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace farcall::bench {
namespace {

// Values below 2^kBits have a bucket of their own; above, the kBits bits after the leading
// one choose the bucket.
constexpr int kBits = 7;
constexpr uint64_t kParts = uint64_t{1} << kBits;
constexpr int kLargestBits = 40;
constexpr size_t kBuckets = (kLargestBits - kBits + 1) * kParts;

}  // namespace

LatencyHistogram::LatencyHistogram() : buckets_(kBuckets) {}

size_t LatencyHistogram::IndexOf(uint64_t value) {
  if (value < kParts) {
    return value;
  }
  const int shift = std::bit_width(value) - 1 - kBits;
  return (static_cast<size_t>(shift) << kBits) + (value >> shift);
}

uint64_t LatencyHistogram::MiddleOf(size_t index) {
  if (index < kParts) {
    return index;
  }
  const uint64_t shift = (index >> kBits) - 1;
  const uint64_t lower = ((index & (kParts - 1)) + kParts) << shift;
  return lower + (uint64_t{1} << shift) / 2;
}

void LatencyHistogram::Record(Nanoseconds latency) {
  const Nanoseconds value = std::clamp(latency, Nanoseconds{0}, kLargest);
  ++buckets_[IndexOf(static_cast<uint64_t>(value.count()))];
  ++count_;
  sum_ns_ += static_cast<double>(value.count());
  min_ = std::min(min_, value);
  max_ = std::max(max_, value);
}

void LatencyHistogram::Merge(const LatencyHistogram& other) {
  for (size_t i = 0; i < kBuckets; ++i) {
    buckets_[i] += other.buckets_[i];
  }
  count_ += other.count_;
  sum_ns_ += other.sum_ns_;
  min_ = std::min(min_, other.min_);
  max_ = std::max(max_, other.max_);
}

double LatencyHistogram::mean_ns() const {
  return count_ == 0 ? 0 : sum_ns_ / static_cast<double>(count_);
}

LatencyHistogram::Nanoseconds LatencyHistogram::Quantile(double q) const {
  if (count_ == 0) {
    return Nanoseconds{0};
  }
  const double share = std::clamp(q, 0.0, 1.0);
  const auto rank =
      std::max<uint64_t>(1, static_cast<uint64_t>(std::ceil(share * static_cast<double>(count_))));
  uint64_t seen = 0;
  for (size_t i = 0; i < kBuckets; ++i) {
    seen += buckets_[i];
    if (seen >= rank) {
      return std::clamp(Nanoseconds{static_cast<int64_t>(MiddleOf(i))}, min_, max_);
    }
  }
  return max_;
}

}  // namespace farcall::bench
