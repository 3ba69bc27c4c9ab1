// SPDX-License-Identifier: Apache-2.0

#include "rpc/cluster/balance/health.h"

#include <algorithm>
#include <utility>

namespace farcall {

void Health::Fall(TimePoint now) {
  was_well_ = !back_at_ || now - *back_at_ >= std::max(2 * pause_.pause(), 10 * pause_.first());
  if (was_well_) pause_.Reset();
  up_ = false;
  fell_at_ = now;
}

Health::Change Health::Return(TimePoint now) {
  up_ = true;
  back_at_ = now;
  return was_well_ && now - fell_at_ <= pause_.first() ? Change::kBackSoon : Change::kBack;
}

Health::Change Health::OnUnreachable(TimePoint now, SplitMix& random) {
  // One of many connections, or a call that found out for itself: the pause stays.
  if (!up_) return Change::kNone;
  Fall(now);
  probe_at_ = was_well_ ? now : now + pause_.Next(random);
  return Change::kFell;
}

Health::Change Health::OnLeaving(TimePoint now, SplitMix& random) {
  if (!up_) return Change::kNone;
  Fall(now);
  was_well_ = false;
  probe_at_ = now + pause_.Next(random);
  return Change::kFell;
}

Health::Change Health::OnAnswer(TimePoint began, TimePoint now) {
  // An answer to an older call may have been on its way when the server died.
  return up_ || began <= fell_at_ ? Change::kNone : Return(now);
}

bool Health::TakeProbe(TimePoint now) {
  if (up_ || probing_ || now < probe_at_) return false;
  probing_ = true;
  return true;
}

Health::Change Health::OnProbe(bool ok, TimePoint now, SplitMix& random) {
  const bool asked = std::exchange(probing_, false);
  if (up_) return Change::kNone;
  if (ok) return Return(now);
  if (asked) probe_at_ = now + pause_.Next(random);
  return Change::kNone;
}

}  // namespace farcall
