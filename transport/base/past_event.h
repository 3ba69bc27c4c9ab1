// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_TRANSPORT_BASE_PAST_EVENT_H_
#define FARCALL_TRANSPORT_BASE_PAST_EVENT_H_

#include <chrono>
#include <cstdint>
#include <string>

namespace farcall {

// Something that happened, once or several times.
struct PastEvent {
  using Time = std::chrono::system_clock::time_point;

  Time first{};
  Time last{};
  uint64_t times = 1;
  std::string text;  // printable ASCII
};

}  // namespace farcall

#endif  // FARCALL_TRANSPORT_BASE_PAST_EVENT_H_
