// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_TRANSPORT_BASE_EVENT_RING_H_
#define FARCALL_TRANSPORT_BASE_EVENT_RING_H_

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"
#include "transport/base/past_event.h"

namespace farcall {

// The last events of a process, for who asks later what happened. Any thread, also with a loop
// held: a lock for less than a microsecond, so not for what happens with each message.
class EventRing {
 public:
  static constexpr size_t kMax = 256;
  // Bytes of one text; the rest is cut.
  static constexpr size_t kMaxText = 512;
  // What is said again while so few others came between counts up instead: a storm of one
  // trouble does not push out what led to it.
  static constexpr size_t kLookBack = 8;

  using Now = std::function<PastEvent::Time()>;

  explicit EventRing(Now now = std::chrono::system_clock::now) : now_(std::move(now)) {}

  // Bytes of `text` that are not printable ASCII are escaped: a part of it may be a peer's.
  void Add(absl::string_view text);
  // Oldest first.
  std::vector<PastEvent> events() const;
  // Those that were pushed out.
  uint64_t forgotten() const;

 private:
  const Now now_;
  mutable std::mutex mutex_;
  // Guarded by mutex_.
  std::deque<PastEvent> events_;
  uint64_t forgotten_ = 0;
};

}  // namespace farcall

#endif  // FARCALL_TRANSPORT_BASE_EVENT_RING_H_
