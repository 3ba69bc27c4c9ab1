// SPDX-License-Identifier: Apache-2.0

#include "transport/buffer/region.h"

#include <linux/mman.h>
#include <sys/mman.h>

#include <cerrno>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "transport/base/check.h"
#include "transport/buffer/poison.h"

namespace farcall {
namespace {

constexpr int kProtection = PROT_READ | PROT_WRITE;
constexpr int kFlags = MAP_PRIVATE | MAP_ANONYMOUS;

void Unmap(void* address, size_t bytes) {
  if (bytes > 0) Check(munmap(address, bytes) == 0, "munmap of what was mapped");
}

// Null when there are not enough reserved huge pages, the common case.
std::byte* MapHuge(size_t bytes) {
  void* const at = mmap(nullptr, bytes, kProtection, kFlags | MAP_HUGETLB | MAP_HUGE_2MB, -1, 0);
  return at == MAP_FAILED ? nullptr : static_cast<std::byte*>(at);
}

// Null, with errno: no memory.
std::byte* MapAligned(size_t bytes) {
  const size_t spare = Region::kAlignment;
  void* const at = mmap(nullptr, bytes + spare, kProtection, kFlags, -1, 0);
  if (at == MAP_FAILED) return nullptr;
  auto* const start = static_cast<std::byte*>(at);
  const size_t skip = -reinterpret_cast<uintptr_t>(start) % Region::kAlignment;
  Unmap(start, skip);
  Unmap(start + skip + bytes, spare - skip);
  return start + skip;
}

}  // namespace

absl::StatusOr<std::unique_ptr<Region>> Region::Map(size_t bytes, uint32_t block_bytes,
                                                    bool huge_pages, int node,
                                                    MemoryRegistrar* registrar, BlockOwner& owner) {
  std::byte* memory = huge_pages ? MapHuge(bytes) : nullptr;
  const bool hugetlb = memory != nullptr;
  if (!hugetlb) {
    memory = MapAligned(bytes);
    if (memory == nullptr) {
      return absl::ErrnoToStatus(
          errno, absl::StrCat("mmap of ", bytes,
                              " bytes for a BlockPool: lower max_bytes, or "
                              "allow more (ulimit -v, the memory limit of the container)"));
    }
    // Where the kernel has no transparent huge pages, ordinary ones do.
    if (huge_pages) static_cast<void>(madvise(memory, bytes, MADV_HUGEPAGE));
  }
  auto region = std::unique_ptr<Region>(new Region({memory, bytes}, hugetlb));
  if (registrar != nullptr) {
    region->registrar_ = registrar;
    region->keys_ = registrar->OnMap(region->memory_, node);
  }
  region->Cut(block_bytes, owner);
  return region;
}

Region::~Region() {
  if (registrar_ != nullptr) registrar_->OnUnmap(keys_);
  UnpoisonBytes(memory_.data(), memory_.size());
  Unmap(memory_.data(), memory_.size());
}

void Region::Cut(uint32_t block_bytes, BlockOwner& owner) {
  block_count_ = memory_.size() / block_bytes;
  headers_ = std::make_unique<Header[]>(block_count_);
  for (size_t i = 0; i < block_count_; ++i) {
    Block& block = headers_[i].block;
    block.data = memory_.data() + i * block_bytes;
    block.capacity = block_bytes;
    block.owner = &owner;
    block.keys = keys_;
    if (i + 1 < block_count_) block.next = &headers_[i + 1].block;
  }
  PoisonBytes(memory_.data(), memory_.size());
}

}  // namespace farcall
