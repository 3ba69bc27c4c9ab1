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

// What the parts have together.
struct BlockPool::Whole {
  Whole(const BlockPoolOptions& pool_options, MemoryRegistrar* memory_registrar)
      : options(pool_options), registrar(memory_registrar) {}

  // Whether the limit leaves room for one more region of `size_class`, and one for each
  // other class that no part has any of yet. With growth_mutex held.
  bool HasRoom(size_t size_class) const {
    size_t wanted = regions.size() + 1;
    for (size_t i = 0; i < kClasses; ++i) wanted += i != size_class && blocks[i] == 0;
    return wanted <= options.max_bytes / options.region_bytes;
  }

  const BlockPoolOptions options;
  MemoryRegistrar* const registrar;
  std::atomic<uint64_t> exhausted{0};
  std::atomic<size_t> mapped_bytes{0};  // written with growth_mutex held
  std::atomic<bool> has_nodes{false};   // whether there is a part besides the first

  // Held while a region is mapped, before any lock of a shelf. Who only frees never
  // waits for it.
  std::mutex growth_mutex;
  std::vector<std::unique_ptr<Region>> regions;
  std::array<size_t, kClasses> blocks{};  // in regions
  uint64_t failed_growths = 0;
  absl::Status growth_error;
  std::vector<BlockPool*> parts;  // all of them, first what Create gave
  std::vector<std::unique_ptr<BlockPool>> of_nodes;
};

struct BlockPool::State {
  size_t free(size_t size_class) const { return shelves[size_class].counts().free; }

  const std::unique_ptr<Whole> own_whole;  // null: of a node
  Whole& whole;
  const int node;
  std::array<Shelf, kClasses> shelves = {Shelf(kBatch[0]), Shelf(kBatch[1]), Shelf(kBatch[2])};
  std::array<size_t, kClasses> blocks{};  // in this part's regions; guarded by growth_mutex
};

absl::StatusOr<std::unique_ptr<BlockPool>> BlockPool::Create(const BlockPoolOptions& options,
                                                             MemoryRegistrar* registrar) {
  if (absl::Status status = options.Validate(); !status.ok()) return status;
  auto whole = std::make_unique<Whole>(options, registrar);
  Whole& all = *whole;
  std::unique_ptr<State> state(new State{std::move(whole), all, /*node=*/-1});
  std::unique_ptr<BlockPool> pool(new BlockPool(std::move(state)));
  all.parts.push_back(pool.get());
  return pool;
}

BlockPool::BlockPool(std::unique_ptr<State> state) : state_(std::move(state)) {}

BlockPool::~BlockPool() {
  for (size_t i = 0; i < kClasses; ++i) {
    Check(state_->free(i) == state_->blocks[i],
          "a Buffer, or a Controller with an attachment, outlives the Runtime (or BlockPool) whose "
          "blocks it has: let go of it before");
  }
}

BlockPool& BlockPool::OnNode(int node) {
  if (node == state_->node) return *this;
  Whole& whole = state_->whole;
  const std::lock_guard lock(whole.growth_mutex);
  for (BlockPool* const part : whole.parts) {
    if (part->state_->node == node) return *part;
  }
  std::unique_ptr<State> state(new State{nullptr, whole, node});
  whole.of_nodes.emplace_back(new BlockPool(std::move(state)));
  whole.parts.push_back(whole.of_nodes.back().get());
  whole.has_nodes.store(true, std::memory_order_relaxed);
  return *whole.parts.back();
}

BlockRef BlockPool::Allocate(size_t bytes) {
  const size_t size_class = ClassFor(bytes);
  Block* block = state_->shelves[size_class].Take();
  if (block == nullptr) [[unlikely]] {
    block = GrowAndTake(size_class);
    if (block == nullptr) {
      state_->whole.exhausted.fetch_add(1, std::memory_order_relaxed);
      return BlockRef();
    }
  }
  return Lend(*block);
}

BlockRef BlockPool::AllocateMapped(size_t bytes) {
  const size_t size_class = ClassFor(bytes);
  Block* block = state_->shelves[size_class].Take();
  // Without other parts there is nowhere else to look, and no lock to wait for.
  if (block == nullptr && state_->whole.has_nodes.load(std::memory_order_relaxed)) {
    const std::lock_guard lock(state_->whole.growth_mutex);
    block = TakeAnywhere(size_class);
  }
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
  const std::lock_guard lock(state_->whole.growth_mutex);
  // Again first: another thread may have grown the pool meanwhile. And again after:
  // others may have taken all that this thread has mapped.
  for (;;) {
    if (Block* const block = state_->shelves[size_class].Take(); block != nullptr) return block;
    if (!Grow(size_class)) break;
  }
  // Regions stay with their part and class: after a burst of large blocks the small ones may be few
  // for ever, and what waits for one stands still although there is memory.
  Block* block = nullptr;
  for (size_t i = size_class; block == nullptr && i < kClasses; ++i) block = TakeAnywhere(i);
  return block;
}

// Of this part, else of another one. With growth_mutex held.
Block* BlockPool::TakeAnywhere(size_t size_class) {
  Block* block = state_->shelves[size_class].Take();
  for (BlockPool* const part : state_->whole.parts) {
    if (block != nullptr) break;
    if (part != this) block = part->state_->shelves[size_class].Take();
  }
  return block;
}

// With growth_mutex held.
bool BlockPool::Grow(size_t size_class) {
  State& state = *state_;
  Whole& whole = state.whole;
  if (!whole.HasRoom(size_class)) return false;
  auto region = Region::Map(whole.options.region_bytes, kBlockBytes[size_class],
                            whole.options.huge_pages, state.node, whole.registrar, *this);
  if (!region.ok()) {
    ++whole.failed_growths;
    whole.growth_error = region.status();
    return false;
  }
  Region& fresh = **region;
  whole.regions.push_back(*std::move(region));
  whole.mapped_bytes.store(whole.regions.size() * whole.options.region_bytes,
                           std::memory_order_relaxed);
  whole.blocks[size_class] += fresh.block_count();
  state.blocks[size_class] += fresh.block_count();
  state.shelves[size_class].Add(fresh.first_block(), fresh.last_block(), fresh.block_count());
  return true;
}

absl::Status BlockPool::Reserve(size_t bytes, size_t count) {
  const size_t size_class = ClassFor(bytes);
  Whole& whole = state_->whole;
  const std::lock_guard lock(whole.growth_mutex);
  for (;;) {
    if (state_->free(size_class) >= count) return absl::OkStatus();
    const uint64_t failed = whole.failed_growths;
    if (Grow(size_class)) continue;
    size_t free = 0;
    for (const BlockPool* const part : whole.parts) free += part->state_->free(size_class);
    if (free >= count) return absl::OkStatus();
    if (whole.failed_growths != failed) {
      return absl::ResourceExhaustedError(whole.growth_error.message());
    }
    return absl::ResourceExhaustedError(
        absl::StrCat(count, " blocks of ", kBlockBytes[size_class], " bytes are wanted, ", free,
                     " are free, and BlockPoolOptions.max_bytes = ", whole.options.max_bytes,
                     " allows no further region"));
  }
}

bool BlockPool::GrowAhead() {
  Whole& whole = state_->whole;
  const std::lock_guard lock(whole.growth_mutex);
  bool grown = false;
  for (BlockPool* const part : whole.parts) {
    for (size_t i = 0; i < kClasses; ++i) {
      if (part->state_->blocks[i] == 0) continue;
      const size_t region_blocks = whole.options.region_bytes / kBlockBytes[i];
      if (4 * part->state_->free(i) < region_blocks) grown |= part->Grow(i);
    }
  }
  return grown;
}

size_t BlockPool::mapped_bytes() const {
  return state_->whole.mapped_bytes.load(std::memory_order_relaxed);
}

BlockPoolStats BlockPool::stats() const {
  Whole& whole = state_->whole;
  const std::lock_guard lock(whole.growth_mutex);
  BlockPoolStats stats;
  stats.region_bytes = mapped_bytes();
  stats.max_bytes = whole.options.max_bytes;
  for (const BlockPool* const part : whole.parts) {
    for (size_t i = 0; i < kClasses; ++i) {
      const Shelf::Counts counts = part->state_->shelves[i].counts();
      stats.used_bytes += (part->state_->blocks[i] - counts.free) * kBlockBytes[i];
      stats.allocations += counts.taken;
    }
  }
  stats.exhausted = whole.exhausted.load(std::memory_order_relaxed);
  stats.failed_growths = whole.failed_growths;
  stats.huge_pages = !whole.regions.empty() && whole.regions.back()->huge_pages();
  return stats;
}

}  // namespace farcall
