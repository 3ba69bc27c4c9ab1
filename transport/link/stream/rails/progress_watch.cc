// SPDX-License-Identifier: Apache-2.0

#include "transport/link/stream/rails/progress_watch.h"

namespace farcall {

void ProgressWatch::Answer(uint64_t received, TimePoint now) {
  if (received >= asked_) return Reset();
  if (lacking_since_ && received <= lacking_at_) return;
  lacking_since_ = now;
  lacking_at_ = received;
}

}  // namespace farcall
