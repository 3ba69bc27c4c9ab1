// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_TRANSPORT_RDMA_CHOICE_CHOICE_WORDS_H_
#define FARCALL_TRANSPORT_RDMA_CHOICE_CHOICE_WORDS_H_

#include <compare>
#include <cstdint>
#include <string>

#include "absl/strings/string_view.h"
#include "transport/rdma/choice/port_end.h"

namespace farcall {

// What ways are compared by, the first that differs decides; the lower is the better. What is
// better when it is more is negative.
struct ChoiceRank {
  int rails = 0;  // of the connection, over its ports
  uint32_t failures = 0;
  bool over_tcp = false;
  int fabric = 0;          // a Fabric; above them: no port is known to lead there
  int uses = 0;            // of its ports, by ways before it
  double share = 0;        // Mb/s, at the end that has less
  int64_t rate = 0;        // Mb/s
  bool far = false;        // the own device is on another NUMA node than the loop
  double other_share = 0;  // at the other end
  uint32_t turn = 0;
  uint64_t own_chance = 0;
  uint64_t offered_chance = 0;
  // Of what has one chance, several ends of a port.
  absl::string_view own_name;
  absl::string_view offered_name;

  bool operator<(const ChoiceRank& other) const;
};

// "mlx5_0 to mlx5_3: the same network, 400 Gb/s, 2 connections here and 5 there; after others,
// since it has less of the rate". `own` null: by routes. `first`: of the way that is the first.
std::string DescribePair(const OwnEnd* own, const OfferedEnd& offered, const ChoiceRank& rank,
                         const ChoiceRank& first);

}  // namespace farcall

#endif  // FARCALL_TRANSPORT_RDMA_CHOICE_CHOICE_WORDS_H_
