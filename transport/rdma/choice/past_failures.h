// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_TRANSPORT_RDMA_CHOICE_PAST_FAILURES_H_
#define FARCALL_TRANSPORT_RDMA_CHOICE_PAST_FAILURES_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <tuple>

#include "transport/base/time.h"
#include "transport/rdma/choice/port_end.h"

namespace farcall {

// Ways over which connections could not be set up lately. A token that was shown is void for all
// other ways of its offer: so the next offer has to be tried at another one first.
class PastFailures {
 public:
  // Without another failure a way is as good as new then.
  static constexpr Duration kRemembered = std::chrono::seconds(60);
  static constexpr size_t kMost = 1024;  // the oldest is forgotten

  // `own` null: over whichever device the routes lead.
  void Add(const OwnEnd* own, const OfferedEnd& offered, TimePoint now);
  // It works.
  void Forget(const OwnEnd* own, const OfferedEnd& offered) { ways_.erase(KeyOf(own, offered)); }
  uint32_t Count(const OwnEnd* own, const OfferedEnd& offered, TimePoint now) const;

 private:
  using Key = std::tuple<std::string, uint8_t, bool, std::array<uint8_t, 16>>;
  struct Failures {
    uint32_t count = 0;
    TimePoint last{};
  };

  static Key KeyOf(const OwnEnd* own, const OfferedEnd& offered);

  std::map<Key, Failures> ways_;
};

}  // namespace farcall

#endif  // FARCALL_TRANSPORT_RDMA_CHOICE_PAST_FAILURES_H_
