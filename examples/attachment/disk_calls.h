// SPDX-License-Identifier: Apache-2.0
//
// The reads and writes that the benchmark of the block store makes.

#ifndef FARCALL_EXAMPLES_ATTACHMENT_DISK_CALLS_H_
#define FARCALL_EXAMPLES_ATTACHMENT_DISK_CALLS_H_

#include <atomic>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "absl/status/statusor.h"
#include "benchmarks/common/call_load.h"
#include "benchmarks/common/figures/call_tally.h"
#include "farcall/buffer.h"
#include "farcall/channel.h"

namespace example {

// The tallies of a slot.
enum DiskKind : size_t { kRead = 0, kWrite = 1 };
inline constexpr int kDiskKinds = 2;

// One job, by fio's words.
struct DiskJob {
  std::string rw;  // read, write, rw; randread, randwrite, randrw
  bool random = false;
  int read_percent = 0;
  uint32_t blocks_at_once = 1;
  // Of the store.
  uint32_t block_bytes = 0;
  uint64_t blocks = 0;

  size_t bytes_per_call() const { return size_t{blocks_at_once} * block_bytes; }

  // kInvalidArgument: `rw` is none of those. `mix`: the reads among rw and randrw, 0 to 100.
  static absl::StatusOr<DiskJob> Of(const std::string& rw, int mix);
};

// A call under way, again and again. `next`: where a job that is not random goes on, shared by
// its slots. `written`: what each write sends. What it is given outlives it.
std::unique_ptr<farcall::bench::CallLoad::Slot> MakeDiskSlot(
    farcall::Channel& channel, const DiskJob& job, std::atomic<uint64_t>& next,
    farcall::Buffer written, uint64_t seed, std::span<farcall::bench::CallTally> tallies);

}  // namespace example

#endif  // FARCALL_EXAMPLES_ATTACHMENT_DISK_CALLS_H_
