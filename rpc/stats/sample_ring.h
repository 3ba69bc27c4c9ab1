// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_RPC_STATS_SAMPLE_RING_H_
#define FARCALL_RPC_STATS_SAMPLE_RING_H_

#include <cstddef>
#include <utility>
#include <vector>

#include "transport/base/check.h"
#include "transport/base/time.h"

namespace farcall {

// The last few samples of counters that only grow, for rates: what was counted since some time
// ago. Samples are taken when something is counted, the last one long enough ago; so between two
// that lie further apart than that there was nothing, but right after the first.
template <typename Counts>
class SampleRing {
 public:
  struct Sample {
    TimePoint when;
    Counts counts;
  };
  struct Base {
    TimePoint when;
    const Counts* counts;  // of a sample here, or `now` of Before
  };

  // Keeps `capacity` samples, of which the memory is taken at once. `quiet`: samples further apart
  // tell that nothing was counted between them.
  SampleRing(size_t capacity, Duration quiet) : capacity_(capacity), quiet_(quiet) {
    Check(capacity > 0, "a ring of samples holds one");
    samples_.reserve(capacity);
  }

  // Not before the last one's time.
  void Add(TimePoint when, Counts counts) {
    Check(empty() || when >= last().when, "samples are added in the order of time");
    if (samples_.size() < capacity_) {
      samples_.push_back(Sample{when, std::move(counts)});
    } else {
      samples_[next_] = Sample{when, std::move(counts)};
      next_ = (next_ + 1) % capacity_;
    }
  }

  bool empty() const { return samples_.empty(); }
  size_t size() const { return samples_.size(); }
  // The oldest is at(0).
  const Sample& at(size_t i) const { return samples_[(next_ + i) % samples_.size()]; }
  const Sample& last() const { return at(size() - 1); }

  // From when and which counts to reckon what was counted from `then` until `now`: the last
  // sample that is not after `then`, or `then` itself where it was quiet; the oldest where the
  // ring does not reach so far. Not of an empty ring.
  Base Before(TimePoint then, const Counts& now) const {
    Check(!empty(), "rates need a sample");
    size_t after = 0;
    while (after < size() && at(after).when <= then) ++after;
    if (after == 0) return Base{at(0).when, &at(0).counts};
    const Sample& before = at(after - 1);
    if (then - before.when <= quiet_) return Base{before.when, &before.counts};
    return Base{then, after < size() ? &at(after).counts : &now};
  }

 private:
  size_t capacity_;
  Duration quiet_;
  std::vector<Sample> samples_;
  size_t next_ = 0;  // the oldest, once the ring is full
};

}  // namespace farcall

#endif  // FARCALL_RPC_STATS_SAMPLE_RING_H_
