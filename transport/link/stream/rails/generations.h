// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_TRANSPORT_LINK_STREAM_RAILS_GENERATIONS_H_
#define FARCALL_TRANSPORT_LINK_STREAM_RAILS_GENERATIONS_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "transport/base/time.h"
#include "transport/link/stream/rails/rate_meter.h"

namespace farcall {

// The successive RDMA connections under one lifeline, as this side sees them:
//
//   Start        Ready         Kill
//  ------> SET UP ---> READY ------> DEAD       and SET UP ---Kill---> DEAD
//
// Those above started() do not exist yet. One rail: a generation replaces all before it, which die
// with it. Several: each is for itself, and counts until both ends have given it up. Pure.
class Generations {
 public:
  struct Generation {
    uint32_t number = 0;
    bool ready = false;
    bool resumed = false;      // the peer has given it up
    uint64_t received = 0;     // bytes of DATA that came by it
    ArrivalStamp arrival = 0;  // of the last of them
    uint64_t reported = 0;     // of those, what a RAIL_ACK has reported
    uint64_t sure = 0;         // and on the lifeline
    TimePoint ack_time{};      // counts while there are more
    uint64_t ack_given = 0;    // where its last RAIL_ACK ends, of what was given to it
  };

  // Of one rail, alive at once, at most. One is the rule; while RESUMEs are on their way there may
  // be more at the side that is asked.
  static constexpr size_t kMax = 4;

  // `rails`: at the same time.
  explicit Generations(uint32_t rails = 1) : rails_(rails) {}

  bool several() const { return rails_ > 1; }
  uint32_t started() const { return started_; }
  // The side that asks: no other one is to begin now.
  bool enough() const { return several() ? full() : !live_.empty(); }
  // The side that is asked: the peer must not begin another one.
  bool full() const;

  // The next one begins; not while full(). Returns its number.
  uint32_t Start();
  // Null: it is dead, or does not exist.
  const Generation* Find(uint32_t number) const {
    for (const Generation& generation : live_) {
      if (generation.number == number) return &generation;
    }
    return nullptr;
  }
  Generation* Find(uint32_t number) {
    for (Generation& generation : live_) {
      if (generation.number == number) return &generation;
    }
    return nullptr;
  }
  // The newest that is ready, or null.
  Generation* Usable();
  // One that dies with `number`, the oldest first; 0: there is none.
  uint32_t Dying(uint32_t number) const;
  // `number` (<= started()) is dead, and all that die with it.
  void Kill(uint32_t number);
  // The peer has given `number` up, alive here or not. False: that cannot be, or it has said so.
  [[nodiscard]] bool Resume(uint32_t number);
  std::span<Generation> live() { return {live_.data(), live_.size()}; }
  std::span<const Generation> live() const { return {live_.data(), live_.size()}; }

 private:
  const uint32_t rails_;
  uint32_t started_ = 0;
  // One rail: those up to these numbers are dead, and given up by the peer.
  uint32_t dead_ = 0;
  uint32_t resumed_ = 0;
  // Several: dead here, and not yet given up by the peer. At most `rails_`.
  std::vector<uint32_t> awaited_;
  absl::InlinedVector<Generation, 1> live_;  // in the order of their numbers
};

}  // namespace farcall

#endif  // FARCALL_TRANSPORT_LINK_STREAM_RAILS_GENERATIONS_H_
