// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_TRANSPORT_LINK_STREAM_GENERATIONS_H_
#define FARCALL_TRANSPORT_LINK_STREAM_GENERATIONS_H_

#include <cstddef>
#include <cstdint>

#include "absl/container/inlined_vector.h"

namespace farcall {

// The successive RDMA connections under one lifeline, as this side sees them:
//
//   Start        Ready         Kill
//  ------> SET UP ---> READY ------> DEAD       and SET UP ---Kill---> DEAD
//
// Those up to dead() are dead, those above started() do not exist yet. Pure.
class Generations {
 public:
  struct Generation {
    uint32_t number = 0;
    bool ready = false;
  };

  // Alive at once, at most. One is the rule; while RESUMEs are on their way there may be
  // more at the side that is asked.
  static constexpr size_t kMost = 4;

  uint32_t started() const { return started_; }
  uint32_t dead() const { return dead_; }
  bool any() const { return !live_.empty(); }
  bool full() const { return live_.size() == kMost; }

  // The next one begins; not while full(). Returns its number.
  uint32_t Start();
  // Null: it is dead, or does not exist.
  Generation* Find(uint32_t number);
  const Generation* Find(uint32_t number) const;
  // The newest that is ready, or null.
  Generation* Usable();
  // The oldest one up to `number` that is not dead, 0 if there is none.
  uint32_t Oldest(uint32_t number) const;
  // Those up to `number` (<= started()) are dead.
  void Kill(uint32_t number);

 private:
  uint32_t started_ = 0;
  uint32_t dead_ = 0;
  absl::InlinedVector<Generation, 1> live_;  // in the order of their numbers
};

}  // namespace farcall

#endif  // FARCALL_TRANSPORT_LINK_STREAM_GENERATIONS_H_
