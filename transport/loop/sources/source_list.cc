// SPDX-License-Identifier: Apache-2.0

#include "transport/loop/sources/source_list.h"

#include <algorithm>
#include <utility>

#include "transport/base/check.h"

namespace farcall {

absl::Status SourceList::Add(PollSource& source) {
  // The edge is enough to end a sleep. What becomes readable while no thread sleeps, as when the
  // work was found by polling before its event came, stays so until the next Arm: by level
  // it would count as work in each turn, and the loop would never come to arm it.
  const auto watch = fds_.Add(source.fd(), EPOLLIN | EPOLLET, waker_);
  if (!watch.ok()) return watch.status();
  entries_.push_back({&source, *watch, false});
  return absl::OkStatus();
}

void SourceList::Remove(PollSource& source) {
  const auto found = std::find_if(entries_.begin(), entries_.end(),
                                  [&](const Entry& entry) { return entry.source == &source; });
  Check(found != entries_.end(), "a source is removed from the loop it was added to");
  if (found->armed) source.Disarm();
  fds_.Remove(found->watch, source.fd());
  // The PollAll that runs skips none.
  if (static_cast<size_t>(found - entries_.begin()) < next_) --next_;
  entries_.erase(found);
}

bool SourceList::PollAll() {
  bool worked = false;
  for (next_ = 0; next_ < entries_.size();) worked |= entries_[next_++].source->Poll();
  next_ = 0;
  return worked;
}

bool SourceList::ArmAll() {
  for (Entry& entry : entries_) {
    entry.armed = entry.source->Arm();
    if (entry.armed) continue;
    DisarmAll();
    return false;
  }
  return true;
}

void SourceList::DisarmAll() {
  // One that was added during the sleep is not armed.
  for (Entry& entry : entries_) {
    if (std::exchange(entry.armed, false)) entry.source->Disarm();
  }
}

}  // namespace farcall
