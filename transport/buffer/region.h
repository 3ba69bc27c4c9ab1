// SPDX-License-Identifier: Apache-2.0
//
// Region: memory from mmap, cut into blocks of one size.

#ifndef FARCALL_TRANSPORT_BUFFER_REGION_H_
#define FARCALL_TRANSPORT_BUFFER_REGION_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "absl/status/statusor.h"
#include "transport/buffer/block.h"
#include "transport/buffer/memory_registrar.h"

namespace farcall {

class Region {
 public:
  // Huge pages of this size; the start of every region is a multiple of it.
  static constexpr size_t kAlignment = size_t{2} << 20;

  // Maps `bytes`, a multiple of kAlignment and of `block_bytes`. With `huge_pages`:
  // MAP_HUGETLB, else madvise(MADV_HUGEPAGE), else ordinary pages, all of mmap(2) and
  // madvise(2). `registrar`, if any, is notified of it and of the node, as OnMap says, and outlives
  // it. The blocks belong to `owner`. Fails, with nothing left behind, when mmap refuses.
  static absl::StatusOr<std::unique_ptr<Region>> Map(size_t bytes, uint32_t block_bytes,
                                                     bool huge_pages, int node,
                                                     MemoryRegistrar* registrar, BlockOwner& owner);
  Region(const Region&) = delete;
  Region& operator=(const Region&) = delete;
  // No block is referenced.
  ~Region();

  bool huge_pages() const { return huge_pages_; }  // MAP_HUGETLB
  size_t block_count() const { return block_count_; }
  // Linked from the first to the last when mapped.
  Block& first_block() { return headers_[0].block; }
  Block& last_block() { return headers_[block_count_ - 1].block; }

 private:
  // A cache line each: threads that count references to neighbours do not meet.
  struct alignas(64) Header {
    Block block;
  };

  Region(std::span<std::byte> memory, bool huge_pages) : memory_(memory), huge_pages_(huge_pages) {}
  void Cut(uint32_t block_bytes, BlockOwner& owner);

  const std::span<std::byte> memory_;
  const bool huge_pages_;
  MemoryRegistrar* registrar_ = nullptr;
  const RegionKeys* keys_ = nullptr;
  // Apart from the bytes, so that no header shares a page with them.
  std::unique_ptr<Header[]> headers_;
  size_t block_count_ = 0;
};

}  // namespace farcall

#endif  // FARCALL_TRANSPORT_BUFFER_REGION_H_
