// SPDX-License-Identifier: Apache-2.0

#include "transport/buffer/block_pool.h"

#include <array>
#include <atomic>
#include <mutex>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "transport/base/check.h"
#include "transport/base/option_field.h"
#include "transport/buffer/poison.h"
#include "transport/buffer/region.h"
#include "transport/buffer/shelf.h"

namespace farcall {
namespace {

constexpr size_t kMaxRegion = size_t{1} << 30;

constexpr size_t kClasses = 3;
constexpr std::array<uint32_t, kClasses> kBlockBytes = {BlockPool::kSmall, BlockPool::kMedium,
                                                        BlockPool::kLarge};
// Moved between a thread's list and the shared one at once: 256 KiB, 512 KiB, 2 MiB.
constexpr std::array<size_t, kClasses> kBatch = {32, 8, 1};

constexpr size_t ClassFor(size_t bytes) {
  if (bytes <= kBlockBytes[0]) return 0;
  return bytes <= kBlockBytes[1] ? 1 : 2;
}

}  // namespace

std::vector<OptionField> Fields(BlockPoolOptions& options, absl::string_view prefix) {
  return {
      {.name = absl::StrCat(prefix, "region_bytes"),
       .target = &options.region_bytes,
       .range = {Region::kAlignment, kMaxRegion},
       .bytes = true,
       .meaning = "asked of the operating system at once: a multiple of 2 MiB"},
      {.name = absl::StrCat(prefix, "max_bytes"),
       .target = &options.max_bytes,
       .range = {kClasses * Region::kAlignment, INT64_MAX},
       .bytes = true,
       .meaning = "of all blocks together: at least three regions"},
      {.name = absl::StrCat(prefix, "huge_pages"),
       .target = &options.huge_pages,
       .meaning = "ask for pages of 2 MiB"},
  };
}

absl::Status BlockPoolOptions::Validate() const {
  if (region_bytes < Region::kAlignment || region_bytes > kMaxRegion ||
      region_bytes % Region::kAlignment != 0) {
    return absl::InvalidArgumentError(
        absl::StrCat("pool.region_bytes is ", region_bytes,
                     "; it must be a multiple of 2 MiB (2097152), from 2 MiB to 1 GiB"));
  }
  if (max_bytes / kClasses < region_bytes) {
    return absl::InvalidArgumentError(
        absl::StrCat("pool.max_bytes is ", max_bytes,
                     "; it must hold three regions, one for each size class: at least ",
                     kClasses * region_bytes, " with region_bytes = ", region_bytes));
  }
  return absl::OkStatus();
}

struct BlockPool::State {
  State(const BlockPoolOptions& pool_options, MemoryRegistrar* memory_registrar)
      : options(pool_options), registrar(memory_registrar) {}

  // Whether the limit leaves room for one more region of `size_class`, and one for each
  // other class that has none yet. With growth_mutex held.
  bool HasRoom(size_t size_class) const {
    size_t wanted = regions.size() + 1;
    for (size_t i = 0; i < kClasses; ++i) wanted += i != size_class && blocks[i] == 0;
    return wanted <= options.max_bytes / options.region_bytes;
  }

  const BlockPoolOptions options;
  MemoryRegistrar* const registrar;
  std::array<Shelf, kClasses> shelves = {Shelf(kBatch[0]), Shelf(kBatch[1]), Shelf(kBatch[2])};
  std::atomic<uint64_t> exhausted{0};
  std::atomic<size_t> mapped_bytes{0};  // written with growth_mutex held

  // Held while a region is mapped, before any lock of a shelf. Who only frees never
  // waits for it.
  std::mutex growth_mutex;
  std::vector<std::unique_ptr<Region>> regions;
  std::array<size_t, kClasses> blocks{};  // in regions
  uint64_t failed_growths = 0;
  absl::Status growth_error;
};

absl::StatusOr<std::unique_ptr<BlockPool>> BlockPool::Create(const BlockPoolOptions& options,
                                                             MemoryRegistrar* registrar) {
  if (absl::Status status = options.Validate(); !status.ok()) return status;
  return std::unique_ptr<BlockPool>(new BlockPool(options, registrar));
}

BlockPool::BlockPool(const BlockPoolOptions& options, MemoryRegistrar* registrar)
    : state_(std::make_unique<State>(options, registrar)) {}

BlockPool::~BlockPool() {
  for (size_t i = 0; i < kClasses; ++i) {
    Check(state_->shelves[i].counts().free == state_->blocks[i],
          "a Buffer, or a Controller with an attachment, outlives the Runtime (or BlockPool) whose "
          "blocks it has: let go of it before");
  }
}

BlockRef BlockPool::Allocate(size_t bytes) {
  const size_t size_class = ClassFor(bytes);
  Block* block = state_->shelves[size_class].Take();
  if (block == nullptr) [[unlikely]] {
    block = GrowAndTake(size_class);
    // Regions stay with their class: after a burst of large blocks the small ones may be few for
    // ever, and what waits for one stands still although there is memory.
    for (size_t larger = size_class + 1; block == nullptr && larger < kClasses; ++larger) {
      block = state_->shelves[larger].Take();
    }
    if (block == nullptr) {
      state_->exhausted.fetch_add(1, std::memory_order_relaxed);
      return BlockRef();
    }
  }
  return Lend(*block);
}

BlockRef BlockPool::AllocateMapped(size_t bytes) {
  Block* const block = state_->shelves[ClassFor(bytes)].Take();
  return block == nullptr ? BlockRef() : Lend(*block);
}

BlockRef BlockPool::Lend(Block& block) {
  UnpoisonBytes(block.data, block.capacity);
  block.references.store(1, std::memory_order_relaxed);
  return BlockRef::Adopt(block);
}

void BlockPool::Recycle(Block& block) {
  PoisonBytes(block.data, block.capacity);
  state_->shelves[ClassFor(block.capacity)].Put(block);
}

Block* BlockPool::GrowAndTake(size_t size_class) {
  const std::lock_guard lock(state_->growth_mutex);
  // Again first: another thread may have grown the pool meanwhile. And again after:
  // others may have taken all that this thread has mapped.
  for (;;) {
    if (Block* const block = state_->shelves[size_class].Take(); block != nullptr) return block;
    if (!Grow(size_class)) return nullptr;
  }
}

// With growth_mutex held.
bool BlockPool::Grow(size_t size_class) {
  State& state = *state_;
  if (!state.HasRoom(size_class)) return false;
  auto region = Region::Map(state.options.region_bytes, kBlockBytes[size_class],
                            state.options.huge_pages, state.registrar, *this);
  if (!region.ok()) {
    ++state.failed_growths;
    state.growth_error = region.status();
    return false;
  }
  Region& fresh = **region;
  state.regions.push_back(*std::move(region));
  state.mapped_bytes.store(state.regions.size() * state.options.region_bytes,
                           std::memory_order_relaxed);
  state.blocks[size_class] += fresh.block_count();
  state.shelves[size_class].Add(fresh.first_block(), fresh.last_block(), fresh.block_count());
  return true;
}

absl::Status BlockPool::Reserve(size_t bytes, size_t count) {
  const size_t size_class = ClassFor(bytes);
  State& state = *state_;
  const std::lock_guard lock(state.growth_mutex);
  for (;;) {
    const size_t free = state.shelves[size_class].counts().free;
    if (free >= count) return absl::OkStatus();
    const uint64_t failed = state.failed_growths;
    if (Grow(size_class)) continue;
    if (state.failed_growths != failed) {
      return absl::ResourceExhaustedError(state.growth_error.message());
    }
    return absl::ResourceExhaustedError(
        absl::StrCat(count, " blocks of ", kBlockBytes[size_class], " bytes are wanted, ", free,
                     " are free, and BlockPoolOptions.max_bytes = ", state.options.max_bytes,
                     " allows no further region"));
  }
}

bool BlockPool::GrowAhead() {
  State& state = *state_;
  const std::lock_guard lock(state.growth_mutex);
  bool grown = false;
  for (size_t i = 0; i < kClasses; ++i) {
    if (state.blocks[i] == 0) continue;
    const size_t region_blocks = state.options.region_bytes / kBlockBytes[i];
    if (4 * state.shelves[i].counts().free < region_blocks) grown |= Grow(i);
  }
  return grown;
}

size_t BlockPool::mapped_bytes() const {
  return state_->mapped_bytes.load(std::memory_order_relaxed);
}

BlockPoolStats BlockPool::stats() const {
  State& state = *state_;
  const std::lock_guard lock(state.growth_mutex);
  BlockPoolStats stats;
  stats.region_bytes = mapped_bytes();
  stats.max_bytes = state.options.max_bytes;
  for (size_t i = 0; i < kClasses; ++i) {
    const Shelf::Counts counts = state.shelves[i].counts();
    stats.used_bytes += (state.blocks[i] - counts.free) * kBlockBytes[i];
    stats.allocations += counts.taken;
  }
  stats.exhausted = state.exhausted.load(std::memory_order_relaxed);
  stats.failed_growths = state.failed_growths;
  stats.huge_pages = !state.regions.empty() && state.regions.back()->huge_pages();
  return stats;
}

absl::Status BlockPool::growth_error() const {
  const std::lock_guard lock(state_->growth_mutex);
  return state_->growth_error;
}

}  // namespace farcall
