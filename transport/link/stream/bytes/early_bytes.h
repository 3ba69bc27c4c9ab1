// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_TRANSPORT_LINK_STREAM_BYTES_EARLY_BYTES_H_
#define FARCALL_TRANSPORT_LINK_STREAM_BYTES_EARLY_BYTES_H_

#include <cstddef>
#include <cstdint>
#include <map>

#include "absl/status/status.h"
#include "transport/buffer/block_pool.h"
#include "transport/buffer/buffer.h"
#include "transport/link/stream/bytes/piece_joiner.h"

namespace farcall {

// Bytes of a stream that came before some of those in front of them, by another way than these.
// Each offset is kept once; pieces that touch are one run. The window bounds the bytes, as the
// caller sees to; a limit on the runs bounds what keeps them. Pure.
class EarlyBytes {
 public:
  // Runs at once in a window of so many bytes, at most: far more than a sender makes that cuts no
  // small slices, and few enough for each of them to keep a block.
  static constexpr size_t MostRuns(size_t window) { return 1024 + window / 4096; }

  // `pool` outlives this.
  EarlyBytes(BlockPool& pool, size_t window) : joiner_(pool), most_runs_(MostRuns(window)) {}

  // Keeps what is new of `bytes` at `offset`. kResourceExhausted: too many runs.
  absl::Status Add(uint64_t offset, Buffer bytes);
  // The run at or in front of `offset`, which is kept no more, and where it begins; empty: there is
  // none. What is in front of `offset` came twice.
  struct Run {
    uint64_t offset = 0;
    Buffer bytes;
  };
  Run Take(uint64_t offset);

  bool empty() const { return runs_.empty(); }
  // Bytes that are kept.
  size_t size() const { return size_; }
  // One more than the highest offset that is kept; 0: there is none.
  uint64_t end() const;
  // Bytes that were kept already when they came.
  uint64_t dropped() const { return dropped_; }

 private:
  // By the offset of the first byte. Neither do they overlap nor touch.
  using Runs = std::map<uint64_t, Buffer>;

  absl::Status Insert(Runs::iterator next, uint64_t offset, Buffer part);
  static uint64_t End(Runs::const_iterator run) { return run->first + run->second.size(); }

  PieceJoiner joiner_;
  const size_t most_runs_;
  Runs runs_;
  size_t size_ = 0;
  uint64_t dropped_ = 0;
};

}  // namespace farcall

#endif  // FARCALL_TRANSPORT_LINK_STREAM_BYTES_EARLY_BYTES_H_
