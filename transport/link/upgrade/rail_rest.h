// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_TRANSPORT_LINK_UPGRADE_RAIL_REST_H_
#define FARCALL_TRANSPORT_LINK_UPGRADE_RAIL_REST_H_

#include <chrono>
#include <cstddef>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "transport/base/time.h"

namespace farcall {

// Of several rails, those that are rested. A rail here is a place, such as a port of a device, over
// which one RDMA connection after the other is made: where three broke within 10 s, a cable or an
// adapter errs that can be set up and does not last, and what is in flight has to be sent again
// each time. So there is a rail less for a while, for twice as long each further time, and after so
// long that it was good, for as long as at first. Pure.
class RailRest {
 public:
  RailRest(Duration first, Duration longest) : first_(first), longest_(longest) {}

  // A connection over `rail` broke.
  void OnError(absl::string_view rail, TimePoint now);
  // When one more may be made, where `wanted` are to be there at the same time and `ready`
  // are. What is the only one does not rest.
  TimePoint Until(size_t wanted, size_t ready) const;
  // Those that rest now.
  std::vector<std::string> Resting(TimePoint now) const;

 private:
  static constexpr size_t kErrors = 3;
  static constexpr Duration kWithin = std::chrono::seconds(10);
  // Names that are known; the one that erred the longest ago is forgotten.
  static constexpr size_t kMax = 16;

  struct Record {
    std::string rail;
    std::vector<TimePoint> errors;  // of the last kWithin, since it was rested
    TimePoint end = TimePoint::min();
    Duration rest = Duration::zero();  // the last one
  };

  Record& Find(absl::string_view rail);

  const Duration first_;
  const Duration longest_;
  std::vector<Record> records_;  // the one that erred last is the last
};

}  // namespace farcall

#endif  // FARCALL_TRANSPORT_LINK_UPGRADE_RAIL_REST_H_
