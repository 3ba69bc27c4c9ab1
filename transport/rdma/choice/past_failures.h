// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_TRANSPORT_RDMA_CHOICE_PAST_FAILURES_H_
#define FARCALL_TRANSPORT_RDMA_CHOICE_PAST_FAILURES_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>

#include "transport/base/time.h"
#include "transport/rdma/choice/port_end.h"

namespace farcall {

// Ways over which connections could not be set up lately. A token that was shown is void for all
// other ways of its offer: so the next offer has to be tried at another one first. A port that
// failed together with two others, and has not worked since, is a failure with each.
class PastFailures {
 public:
  // Without another failure a way is as good as new then.
  static constexpr Duration kRemembered = std::chrono::seconds(60);
  static constexpr size_t kMax = 256;  // the oldest is forgotten
  static constexpr uint32_t kOthers = 2;

  // `own` null: over whichever device the routes lead.
  void Add(const OwnEnd* own, const OfferedEnd& offered, TimePoint now);
  // It works.
  void OnWorks(const OwnEnd* own, const OfferedEnd& offered);
  uint32_t Count(const OwnEnd* own, const OfferedEnd& offered, TimePoint now) const;

 private:
  using Own = std::pair<std::string, uint8_t>;
  using Place = std::pair<bool, std::array<uint8_t, 16>>;
  using Key = std::pair<Own, Place>;
  struct Failures {
    uint32_t count = 0;
    TimePoint last{};
    bool own_works = false;  // with another one, since
    bool place_works = false;
  };

  static Key KeyOf(const OwnEnd* own, const OfferedEnd& offered);

  std::map<Key, Failures> ways_;
};

}  // namespace farcall

#endif  // FARCALL_TRANSPORT_RDMA_CHOICE_PAST_FAILURES_H_
