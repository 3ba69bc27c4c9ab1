// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_RPC_SESSION_SERVER_LIMITS_MEMORY_HOLDERS_H_
#define FARCALL_RPC_SESSION_SERVER_LIMITS_MEMORY_HOLDERS_H_

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

  // Bytes. Fewer are not reported.
  static constexpr size_t kMuch = size_t{64} << 10;
  // How often each reports, and at most one is closed.
  static constexpr Duration kEach = std::chrono::milliseconds(100);
  // One that moved less than this part of what it holds since its last report stands still.
  static constexpr size_t kStillPart = 8;

  // `moved`: bytes that came and left since the last report.
  void Report(Who who, size_t bytes, uint64_t moved) {
    holders_[who] = {bytes, moved < bytes / kStillPart};
  }
  void Forget(Who who);
  // Whether to ask the pool, for Pick.
  bool IsDue(TimePoint now);
  // `refused`: how often the pool had no block, ever. If it refused since the last time: who
  // holds most of those that stand still, which is removed here. Null: none.
  Who Pick(uint64_t refused);

 private:
  struct Holder {
    size_t bytes = 0;
    bool still = false;
  };

  absl::flat_hash_map<Who, Holder> holders_;
  TimePoint looked_ = TimePoint::min();
  std::optional<uint64_t> refused_;  // none: no connection holds much, and Pick was not called
};

}  // namespace farcall

#endif  // FARCALL_RPC_SESSION_SERVER_LIMITS_MEMORY_HOLDERS_H_
