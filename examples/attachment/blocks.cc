// SPDX-License-Identifier: Apache-2.0

#include "examples/attachment/blocks.h"

#include <string>
#include <utility>

#include "absl/strings/str_cat.h"

namespace example {

Blocks::Blocks(uint64_t count, uint32_t block_bytes, farcall::BlockPool& pool)
    : block_bytes_(block_bytes), blocks_(count) {
  const std::string zeros(block_bytes, '\0');
  for (size_t i = 0; i < kShards; ++i) {
    shards_.push_back(std::make_unique<Shard>(pool));
    shards_.back()->zeros = farcall::Buffer(zeros);
  }
}

absl::Status Blocks::Check(uint64_t first, uint64_t count) const {
  if (count == 0 || count > kMostBlocks) {
    return absl::InvalidArgumentError(
        absl::StrCat("1 to ", kMostBlocks, " blocks at once, not ", count));
  }
  if (first >= blocks_.size() || count > blocks_.size() - first) {
    return absl::OutOfRangeError(absl::StrCat("there are ", blocks_.size(), " blocks, and not ",
                                              count, " from number ", first, " on"));
  }
  return absl::OkStatus();
}

absl::Status Blocks::Write(uint64_t first, farcall::Buffer bytes) {
  if (bytes.size() % block_bytes_ != 0) {
    return absl::InvalidArgumentError(
        absl::StrCat(bytes.size(), " bytes are no whole blocks of ", block_bytes_));
  }
  if (absl::Status status = Check(first, bytes.size() / block_bytes_); !status.ok()) return status;
  std::string scratch(block_bytes_, '\0');
  for (uint64_t block = first; !bytes.empty(); ++block) {
    const farcall::Buffer arrived = bytes.CutFront(block_bytes_);
    // Copied out of the block that it arrived in, which holds other requests too and would be
    // kept whole for the sake of this one.
    farcall::Buffer written;
    farcall::Buffer old;
    {
      Shard& shard = ShardOf(block);
      const std::lock_guard<std::mutex> lock(shard.mutex);
      if (!shard.writer.Append(arrived.Front(block_bytes_, scratch.data()), written)) {
        return absl::ResourceExhaustedError("the pool is at its limit");
      }
      old = std::exchange(blocks_[block], std::move(written));
    }
  }
  return absl::OkStatus();
}

absl::Status Blocks::Read(uint64_t first, uint32_t count, farcall::Buffer& bytes) const {
  if (absl::Status status = Check(first, count); !status.ok()) return status;
  for (uint64_t block = first; block < first + count; ++block) {
    const Shard& shard = ShardOf(block);
    const std::lock_guard<std::mutex> lock(shard.mutex);
    const farcall::Buffer& stored = blocks_[block];
    bytes.Append(stored.empty() ? shard.zeros.Share() : stored.Share());
  }
  return absl::OkStatus();
}

}  // namespace example
