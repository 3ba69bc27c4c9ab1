// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_TRANSPORT_TESTING_SIM_SIM_INBOX_H_
#define FARCALL_TRANSPORT_TESTING_SIM_SIM_INBOX_H_

#include <algorithm>
#include <deque>
#include <utility>

#include "transport/base/time.h"
#include "transport/testing/sim/sim_port.h"

namespace farcall {

// Packets by the time at which they arrive, in the order in which they were sent. Pure.
class SimInbox {
 public:
  void Put(SimPacket packet, TimePoint arrival) {
    last_ = std::max(last_, arrival);
    packets_.push_back({std::move(packet), last_});
  }
  bool empty() const { return packets_.empty(); }
  // Not empty.
  TimePoint next() const { return packets_.front().arrival; }
  SimPacket& front() { return packets_.front().packet; }
  void Pop() { packets_.pop_front(); }
  void Clear() { packets_.clear(); }
  bool arrived(TimePoint now) const { return !empty() && next() <= now; }
  bool HasData() const {
    return std::any_of(packets_.begin(), packets_.end(), [](const Entry& entry) {
      return entry.packet.kind == SimPacket::Kind::kData;
    });
  }

 private:
  struct Entry {
    SimPacket packet;
    TimePoint arrival;
  };
  std::deque<Entry> packets_;
  TimePoint last_{};
};

}  // namespace farcall

#endif  // FARCALL_TRANSPORT_TESTING_SIM_SIM_INBOX_H_
