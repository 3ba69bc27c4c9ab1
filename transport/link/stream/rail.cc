// SPDX-License-Identifier: Apache-2.0

#include "transport/link/stream/rail.h"

namespace farcall {

void Rail::Sent(uint64_t offset, uint64_t bytes, TimePoint now) {
  if (flight_.in_flight() == 0) moved_ = now;
  rate_.Sent(flight_.sent(), bytes, now);
  flight_.Sent(offset, bytes);
}

bool Rail::Acknowledge(uint64_t count, ArrivalStamp stamp, TimePoint now) {
  const uint64_t before = flight_.acknowledged();
  if (!flight_.Acknowledge(count)) return false;
  if (flight_.acknowledged() == before) return true;
  rate_.Acknowledge(flight_.acknowledged(), stamp, now);
  moved_ = now;
  return true;
}

std::vector<ByteRange> Rail::Suspect() {
  trusted_at_ = flight_.sent();
  given.Forget();
  return flight_.TakeLost();
}

}  // namespace farcall
