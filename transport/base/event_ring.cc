// SPDX-License-Identifier: Apache-2.0

#include "transport/base/event_ring.h"

#include <algorithm>
#include <utility>

#include "absl/strings/escaping.h"

namespace farcall {

void EventRing::Add(absl::string_view text) {
  // Escaped first: an escape takes up to four bytes.
  std::string line = absl::CHexEscape(text.substr(0, kMaxText));
  if (line.size() > kMaxText) line.resize(kMaxText);
  const PastEvent::Time now = now_();
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto end = events_.rbegin() + static_cast<long>(std::min(kLookBack, events_.size()));
  const auto same = std::find_if(events_.rbegin(), end,
                                 [&](const PastEvent& event) { return event.text == line; });
  if (same != end) {
    ++same->times;
    same->last = now;
    return;
  }
  if (events_.size() == kMax) {
    events_.pop_front();
    ++forgotten_;
  }
  events_.push_back({now, now, 1, std::move(line)});
}

std::vector<PastEvent> EventRing::events() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return std::vector<PastEvent>(events_.begin(), events_.end());
}

uint64_t EventRing::forgotten() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return forgotten_;
}

}  // namespace farcall
