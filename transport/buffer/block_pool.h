// SPDX-License-Identifier: Apache-2.0
//
// BlockPool: blocks of three sizes, cut out of large regions of memory that are
// registered whole, never in the data path.

#ifndef FARCALL_TRANSPORT_BUFFER_BLOCK_POOL_H_
#define FARCALL_TRANSPORT_BUFFER_BLOCK_POOL_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "transport/buffer/block.h"
#include "transport/buffer/memory_registrar.h"

namespace farcall {

struct OptionField;  // transport/base/option_field.h

struct BlockPoolOptions {
  // Bytes asked of the operating system at once: a multiple of 2 MiB, 2 MiB to 1 GiB.
  // A region serves one size class. Its pages cost nothing until they are touched.
  size_t region_bytes = size_t{8} << 20;
  // Bytes of all regions together; at least three regions, since one is kept for each
  // size class that has none yet. Allocate gives nothing beyond it.
  size_t max_bytes = size_t{1} << 30;
  // Ask for 2 MiB pages: MAP_HUGETLB, else transparent ones by madvise, else ordinary ones.
  bool huge_pages = false;

  absl::Status Validate() const;
};

// All fields, described; they point into `options`. `prefix` comes before each name.
std::vector<OptionField> Fields(BlockPoolOptions& options, absl::string_view prefix);

struct BlockPoolStats {
  size_t region_bytes = 0;  // mapped
  size_t used_bytes = 0;    // in blocks with a reference
  size_t max_bytes = 0;     // BlockPoolOptions::max_bytes
  uint64_t allocations = 0;
  uint64_t exhausted = 0;       // Allocate calls that got nothing
  uint64_t failed_growths = 0;  // regions that mmap refused
  bool huge_pages = false;      // whether the last region has MAP_HUGETLB pages
};

// Any thread. Free lists are kept apart by thread, over a shared one, so that
// loops do not meet on a lock. Must outlive its blocks: the destructor checks
// that every block came home.
//
// It has parts for NUMA nodes, from which loops take where they run on several (OnNode). A part has
// regions and lists of its own, and its blocks come home to it, whoever frees them. Options and
// limit are of all parts together, as is what they tell. Where no part is asked for there is none.
class BlockPool final : private BlockOwner {
 public:
  static constexpr uint32_t kSmall = 8 << 10;
  static constexpr uint32_t kMedium = 64 << 10;
  static constexpr uint32_t kLarge = 2 << 20;

  // `registrar`, if any, is notified of each region when it is mapped and outlives the pool.
  static absl::StatusOr<std::unique_ptr<BlockPool>> Create(const BlockPoolOptions& options,
                                                           MemoryRegistrar* registrar = nullptr);
  ~BlockPool();

  // The part for who runs on this node, made when it is first asked for; lives as long as the pool.
  // -1: what Create gave. Not in the data path.
  BlockPool& OnNode(int node);

  // A block of the smallest class that holds `bytes`, or of the largest class
  // when none does. When the pool is at its limit, or the next region was refused, one of another
  // part, then of a larger class, if there is a free one, else null: the caller pushes back. The
  // bytes are what they were.
  //
  // A class without a free block maps its next region here: microseconds. Its blocks are
  // known to devices only later, so who wants them registered grows the pool ahead of need.
  BlockRef Allocate(size_t bytes);

  // The same, of its class and mapping nothing.
  BlockRef AllocateMapped(size_t bytes);

  // Maps regions until the class that holds `bytes` has `count` free blocks, at the limit those of
  // other parts too: before receives are posted, whose blocks must be registered.
  // kResourceExhausted: max_bytes does not allow it, or mmap refused; what was mapped stays. The
  // blocks are not reserved: other threads may take them meanwhile.
  absl::Status Reserve(size_t bytes, size_t count);
  // Maps one region more for each class in use, of each part, of which fewer blocks are free than a
  // quarter of a region: for a timer, so that a block that is to be sent is registered already.
  // Takes every lock, as stats() does. True: it did.
  bool GrowAhead();

  // Of all regions: no more can be in use. Any time, without a lock.
  size_t mapped_bytes() const;
  // Any time, of one moment for each class. Takes every lock: not in the data path.
  BlockPoolStats stats() const;

 private:
  struct Whole;
  struct State;
  explicit BlockPool(std::unique_ptr<State> state);
  void Recycle(Block& block) override;
  static BlockRef Lend(Block& block);
  Block* GrowAndTake(size_t size_class);
  Block* TakeAnywhere(size_t size_class);
  bool Grow(size_t size_class);

  const std::unique_ptr<State> state_;
};

}  // namespace farcall

#endif  // FARCALL_TRANSPORT_BUFFER_BLOCK_POOL_H_
