// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_RPC_SESSION_MEMORY_HOLDERS_H_
#define FARCALL_RPC_SESSION_MEMORY_HOLDERS_H_

#include <cstddef>
#include <cstdint>
#include <optional>

#include "absl/container/flat_hash_map.h"
#include "transport/base/time.h"

namespace farcall {

// The connections that hold much memory for a peer, with parts of requests and with answers that
// wait, and which of them has to go when the pool has none left for the others. Pure; one thread
// at a time.
class MemoryHolders {
 public:
  using Who = const void*;

  // Bytes. Fewer are not told.
  static constexpr size_t kMuch = size_t{64} << 10;
  // How often each tells, and at most one goes.
  static constexpr Duration kEach = std::chrono::milliseconds(100);
  // Who moved less than this part of what it holds since it told last stands still.
  static constexpr size_t kStillPart = 8;

  // `moved`: bytes that came and left since it told last.
  void Tell(Who who, size_t bytes, uint64_t moved) {
    holders_[who] = {bytes, moved < bytes / kStillPart};
  }
  void Forget(Who who);
  // Whether to ask the pool, for Pick.
  bool IsDue(TimePoint now);
  // `refused`: how often the pool had no block, ever. If that was since the last time: who holds
  // most of those that stand still, and is told of no more. Null: nobody.
  Who Pick(uint64_t refused);

 private:
  struct Holder {
    size_t bytes = 0;
    bool still = false;
  };

  absl::flat_hash_map<Who, Holder> holders_;
  TimePoint looked_ = TimePoint::min();
  std::optional<uint64_t> refused_;  // none: nobody holds much, and nobody asked
};

}  // namespace farcall

#endif  // FARCALL_RPC_SESSION_MEMORY_HOLDERS_H_
