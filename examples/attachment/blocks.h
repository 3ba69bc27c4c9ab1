// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_EXAMPLES_ATTACHMENT_BLOCKS_H_
#define FARCALL_EXAMPLES_ATTACHMENT_BLOCKS_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "farcall/buffer.h"
#include "farcall/registered_memory.h"
#include "farcall/runtime.h"

namespace example {

// Blocks of one size in one mapping of the program, which sockets and RDMA devices write to and
// send from. It has more slots than there are blocks: a write is received into free ones, which are
// the blocks from its Commit on; what they replace is free again once nothing sends it any more. So
// a block that was read stays as it was, and a write that breaks off has changed nothing. Any
// thread.
class Blocks {
 public:
  // That one read or write may name.
  static constexpr uint32_t kMaxBlocks = 256;

  // All blocks are zero at first. `runtime` outlives this. kResourceExhausted: no such mapping.
  static absl::StatusOr<std::unique_ptr<Blocks>> Create(const farcall::Runtime& runtime,
                                                        uint64_t count, uint32_t block_bytes);

  uint64_t count() const { return slot_of_.size(); }
  uint32_t block_bytes() const { return block_bytes_; }

  // Slots for `bytes` of blocks from `first` on: to be written to, and then given to Commit or
  // Release. kOutOfRange, kInvalidArgument: not so many blocks there, or not whole ones.
  // kResourceExhausted: too much is being written or sent already.
  absl::StatusOr<farcall::Buffer> Reserve(uint64_t first, size_t bytes);
  // These slots are the blocks from `first` on; both as for Reserve. False, and nothing is changed:
  // the bytes lie elsewhere.
  bool Commit(uint64_t first, const farcall::Buffer& slots);
  void Release(const farcall::Buffer& slots);
  // The errors of Reserve.
  absl::Status Read(uint64_t first, uint32_t count, farcall::Buffer& bytes) const;
  // Slots that are not in use.
  size_t free_slots() const;

 private:
  using Slot = uint32_t;
  // Never written, and never free: what all blocks are at first.
  static constexpr Slot kZero = 0;

  Blocks(uint64_t count, uint32_t block_bytes, size_t slots, farcall::RegisteredMemory memory);
  absl::Status Check(uint64_t first, uint64_t count) const;
  std::vector<Slot> SlotsIn(const farcall::Buffer& slots) const;
  // Answers that are still sent when the blocks and their server have gone end after them: a queue
  // pair may keep its memory until the runtime ends.
  struct Slots {
    std::mutex mutex;
    // Guarded by mutex.
    std::vector<uint32_t> users;  // of each slot: a block, and answers that are sent
    std::vector<Slot> free;       // last in, first out

    // With mutex held.
    void Unref(Slot slot);
  };

  const uint32_t block_bytes_;
  const farcall::RegisteredMemory memory_;
  const std::shared_ptr<Slots> slots_ = std::make_shared<Slots>();
  std::vector<Slot> slot_of_;  // of each block; guarded by slots_->mutex
};

}  // namespace example

#endif  // FARCALL_EXAMPLES_ATTACHMENT_BLOCKS_H_
