// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_TRANSPORT_LINK_STREAM_TESTING_BULK_SIM_H_
#define FARCALL_TRANSPORT_LINK_STREAM_TESTING_BULK_SIM_H_

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <vector>

#include "transport/base/time.h"
#include "transport/link/stream/bytes/byte_range.h"
#include "transport/link/stream/rails/rails.h"

namespace farcall {

// Two ends with Rails, and wires of given rates between them, in virtual time. What an end tells of
// the bytes that came by a rail stands behind its own bytes on that rail, as frames do. Nothing is
// known of the rails at first.
class BulkSim {
 public:
  // Bytes a microsecond, of each rail, the same both ways.
  explicit BulkSim(const std::vector<double>& rates);

  void SetRate(size_t rail, double rate) { rates_[rail] = rate; }
  // Microseconds until all has come that each end writes now.
  int64_t Carry(uint64_t first, uint64_t second);

 private:
  // Without a range it tells what came by the rail.
  struct Frame {
    ByteRange range;
    uint64_t in_row = 0;  // of the other way, when it was given
    uint64_t come = 0;
    ArrivalStamp arrival = 0;
  };
  struct Wire {
    std::deque<Frame> queue;
    double done = 0;  // bytes of the first
    // At the other end.
    uint64_t come = 0;
    uint64_t reported = 0;
    ArrivalStamp arrival = 0;
    TimePoint due{};  // to be reported
    bool telling = false;
  };
  // An end, and what goes from there.
  struct Way {
    explicit Way(size_t count);
    StreamLimits limits;
    Rails rails{limits};
    std::vector<Wire> wires;
    uint64_t written = 0;
    uint64_t sent = 0;
    uint64_t acknowledged = 0;
    // At the other end.
    std::map<uint64_t, uint64_t> early;
    uint64_t in_row = 0;
  };

  TimePoint now() const { return TimePoint(std::chrono::microseconds(now_)); }
  // `way`: 0, 1.
  void Report(int way);
  void Send(int way);
  void Move(int way, size_t rail);
  void Come(int way, size_t rail, const Frame& frame);

  std::vector<double> rates_;
  std::array<Way, 2> ways_;
  int64_t now_ = 1'000'000;
};

// Carries messages of 8 MiB over rails of many rates, one way and both. Returns the first
// violation, or nothing: the first takes at most half as long again as the sum of the rails needs
// for it, those behind it a tenth.
std::string CheckBulk();

}  // namespace farcall

#endif  // FARCALL_TRANSPORT_LINK_STREAM_TESTING_BULK_SIM_H_
