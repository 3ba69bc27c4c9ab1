// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_TRANSPORT_LINK_STREAM_RAILS_H_
#define FARCALL_TRANSPORT_LINK_STREAM_RAILS_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "transport/base/time.h"
#include "transport/link/stream/byte_range.h"
#include "transport/link/stream/rail.h"
#include "transport/link_options.h"

namespace farcall {

// The generations that this side sends on, and which takes what. Little is sent on one of them, the
// home, so that it stays in order and the others can sleep. Much, or what comes behind much, is cut
// in slices, each for the rail that is done with it first, by what is in flight on it and how fast
// it was. Pure.
class Rails {
 public:
  // `limits` outlives this.
  explicit Rails(const StreamLimits& limits) : limits_(limits) {}

  void Add(uint32_t number) { rails_.push_back(std::make_unique<Rail>(number, limits_)); }
  // It is gone; what it may not have brought.
  std::vector<ByteRange> Remove(uint32_t number);
  Rail* Find(uint32_t number);
  const Rail* Find(uint32_t number) const;
  const std::vector<std::unique_ptr<Rail>>& all() const { return rails_; }
  // The oldest that is not suspect, else the oldest; 0: there is none.
  uint32_t home() const;

  struct Choice {
    Rail* rail = nullptr;
    size_t most = 0;  // bytes
  };
  // For the next of `waiting` bytes. There is a rail; null: each is to show first how fast it is,
  // by what is in flight on it.
  Choice Pick(uint64_t waiting, TimePoint now);
  // Since when nothing is known to have moved on one that may be suspect before long: the peer is
  // to be asked soon. None: all move, or none could stand in for it.
  std::optional<TimePoint> StillSince() const;
  // One on which nothing has moved for a while, though another is there to send on instead; null:
  // there is none. By the answers so far.
  Rail* FindSuspect(TimePoint now);
  // One on which nothing has moved for progress_timeout, or null.
  Rail* FindStuck(TimePoint now);

 private:
  bool MayTake(const Rail& rail) const;
  bool HasOther(const Rail& rail) const;
  double Best() const;

  const StreamLimits& limits_;
  std::vector<std::unique_ptr<Rail>> rails_;  // in the order of their numbers
};

}  // namespace farcall

#endif  // FARCALL_TRANSPORT_LINK_STREAM_RAILS_H_
