// SPDX-License-Identifier: Apache-2.0

#include "rpc/session/server/limits/memory_holders.h"

#include <utility>

namespace farcall {

void MemoryHolders::Forget(Who who) {
  holders_.erase(who);
  // No connection is to blame for what the pool refuses before one holds much again.
  if (holders_.empty()) refused_.reset();
}

bool MemoryHolders::IsDue(TimePoint now) {
  if (looked_ != TimePoint::min() && now - looked_ < kEach) return false;
  looked_ = now;
  return true;
}

MemoryHolders::Who MemoryHolders::Pick(uint64_t refused) {
  const std::optional<uint64_t> before = std::exchange(refused_, refused);
  if (!before.has_value() || *before == refused) return nullptr;
  Who most = nullptr;
  size_t bytes = 0;
  for (const auto& [who, holder] : holders_) {
    if (!holder.still || holder.bytes <= bytes) continue;
    most = who;
    bytes = holder.bytes;
  }
  if (most != nullptr) holders_.erase(most);
  return most;
}

}  // namespace farcall
