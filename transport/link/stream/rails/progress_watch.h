// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_TRANSPORT_LINK_STREAM_RAILS_PROGRESS_WATCH_H_
#define FARCALL_TRANSPORT_LINK_STREAM_RAILS_PROGRESS_WATCH_H_

#include <cstdint>
#include <optional>

#include "transport/base/time.h"
#include "transport/link_options.h"

namespace farcall {

// After so long without progress what is on one of several rails goes out again on the others,
// while another one is not still.
inline Duration SuspectAfter(const StreamLimits& limits) { return limits.progress_timeout / 4; }
// Between PINGs while one of several rails is still. An end takes SuspectAfter and up to twice this
// to find a cut cable; the two ends may find it one after the other.
inline Duration StillPing(const StreamLimits& limits) { return SuspectAfter(limits) / 4; }

// For how long answers of the peer have shown that bytes lack which were sent before they were
// asked for, and that none came meanwhile. Pure.
class ProgressWatch {
 public:
  // The peer is asked, when so many bytes have been sent.
  void Ask(uint64_t sent) { asked_ = sent; }
  // It has answered: so many have come.
  void Answer(uint64_t received, TimePoint now);
  void Reset() { lacking_since_.reset(); }
  // Whether that lasts for `bound` or longer.
  bool Lacks(Duration bound, TimePoint now) const {
    return lacking_since_ && now - *lacking_since_ >= bound;
  }

 private:
  uint64_t asked_ = 0;
  // The first answer in a row that showed a lack, and what it said.
  std::optional<TimePoint> lacking_since_;
  uint64_t lacking_at_ = 0;
};

}  // namespace farcall

#endif  // FARCALL_TRANSPORT_LINK_STREAM_RAILS_PROGRESS_WATCH_H_
