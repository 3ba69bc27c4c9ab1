// SPDX-License-Identifier: Apache-2.0

#include "examples/attachment/blocks.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstddef>
#include <span>
#include <utility>

#include "absl/strings/str_cat.h"

namespace example {
namespace {

// Pages that cost nothing until they are written to, and begin as zeros.
class Mapping {
 public:
  explicit Mapping(size_t bytes)
      : bytes_(bytes),
        begin_(::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)) {
  }
  Mapping(const Mapping&) = delete;
  Mapping& operator=(const Mapping&) = delete;
  ~Mapping() {
    if (there()) ::munmap(begin_, bytes_);
  }
  bool there() const { return begin_ != MAP_FAILED; }
  std::span<std::byte> bytes() const { return {static_cast<std::byte*>(begin_), bytes_}; }

 private:
  const size_t bytes_;
  void* const begin_;
};

// Beside one for each block: for what is being written, and for what is replaced and still sent.
size_t SpareSlots(uint64_t count) { return std::max<size_t>(4 * Blocks::kMaxBlocks, count / 8); }

}  // namespace

absl::StatusOr<std::unique_ptr<Blocks>> Blocks::Create(const farcall::Runtime& runtime,
                                                       uint64_t count, uint32_t block_bytes) {
  const size_t slots = 1 + count + SpareSlots(count);
  const auto mapping = std::make_shared<const Mapping>(slots * block_bytes);
  if (!mapping->there()) {
    return absl::ResourceExhaustedError(
        absl::StrCat("no memory for ", slots, " slots of ", block_bytes, " bytes"));
  }
  // It stays mapped until no device knows it, and there is no slice of it.
  auto memory = runtime.RegisterMemory(mapping->bytes(), [mapping] {});
  if (!memory.ok()) return memory.status();
  return std::unique_ptr<Blocks>(new Blocks(count, block_bytes, slots, *std::move(memory)));
}

Blocks::Blocks(uint64_t count, uint32_t block_bytes, size_t slots, farcall::RegisteredMemory memory)
    : block_bytes_(block_bytes), memory_(std::move(memory)), slot_of_(count, kZero) {
  slots_->users.resize(slots);
  slots_->free.reserve(slots);
  for (size_t slot = slots - 1; slot > kZero; --slot)
    slots_->free.push_back(static_cast<Slot>(slot));
}

absl::Status Blocks::Check(uint64_t first, uint64_t count) const {
  if (count == 0 || count > kMaxBlocks) {
    return absl::InvalidArgumentError(
        absl::StrCat("1 to ", kMaxBlocks, " blocks at once, not ", count));
  }
  if (first >= slot_of_.size() || count > slot_of_.size() - first) {
    return absl::OutOfRangeError(absl::StrCat("there are ", slot_of_.size(), " blocks, and not ",
                                              count, " from number ", first, " on"));
  }
  return absl::OkStatus();
}

absl::StatusOr<farcall::Buffer> Blocks::Reserve(uint64_t first, size_t bytes) {
  if (bytes % block_bytes_ != 0) {
    return absl::InvalidArgumentError(
        absl::StrCat(bytes, " bytes are no whole blocks of ", block_bytes_));
  }
  const size_t count = bytes / block_bytes_;
  if (absl::Status status = Check(first, count); !status.ok()) return status;
  std::vector<Slot> slots;
  {
    const std::lock_guard<std::mutex> lock(slots_->mutex);
    std::vector<Slot>& free = slots_->free;
    if (free.size() < count) {
      return absl::ResourceExhaustedError("too much is being written or sent at once");
    }
    slots.assign(free.rbegin(), free.rbegin() + static_cast<std::ptrdiff_t>(count));
    free.resize(free.size() - count);
  }
  farcall::Buffer memory;
  for (const Slot slot : slots)
    memory.Append(memory_.Slice(slot * size_t{block_bytes_}, block_bytes_));
  return memory;
}

// Slices that lie beside each other may be one, and one that lies across pieces of the registered
// memory is two.
std::vector<Blocks::Slot> Blocks::SlotsIn(const farcall::Buffer& slots) const {
  std::vector<Slot> found;
  size_t into = 0;  // bytes of the slot that are behind us
  for (const farcall::Buffer::Slice& slice : slots.slices()) {
    const auto* const begin = reinterpret_cast<const std::byte*>(slice.view().data());
    for (size_t at = 0; at < slice.length;) {
      if (into == 0) {
        found.push_back(static_cast<Slot>((begin + at - memory_.memory().data()) / block_bytes_));
      }
      const size_t part = std::min<size_t>(slice.length - at, block_bytes_ - into);
      at += part;
      into = (into + part) % block_bytes_;
    }
  }
  return found;
}

bool Blocks::Commit(uint64_t first, const farcall::Buffer& slots) {
  const auto* const begin = reinterpret_cast<const char*>(memory_.memory().data());
  for (const farcall::Buffer::Slice& slice : slots.slices()) {
    const char* const bytes = slice.view().data();
    if (bytes < begin || bytes + slice.length > begin + memory_.memory().size()) return false;
  }
  const std::vector<Slot> written = SlotsIn(slots);
  const std::lock_guard<std::mutex> lock(slots_->mutex);
  for (const Slot slot : written) {
    ++slots_->users[slot];
    slots_->Unref(std::exchange(slot_of_[first++], slot));
  }
  return true;
}

void Blocks::Release(const farcall::Buffer& slots) {
  const std::vector<Slot> unused = SlotsIn(slots);
  const std::lock_guard<std::mutex> lock(slots_->mutex);
  slots_->free.insert(slots_->free.end(), unused.rbegin(), unused.rend());
}

absl::Status Blocks::Read(uint64_t first, uint32_t count, farcall::Buffer& bytes) const {
  if (absl::Status status = Check(first, count); !status.ok()) return status;
  std::vector<Slot> slots;
  {
    const std::lock_guard<std::mutex> lock(slots_->mutex);
    const auto begin = slot_of_.begin() + static_cast<std::ptrdiff_t>(first);
    slots.assign(begin, begin + count);
    for (const Slot slot : slots) ++slots_->users[slot];
  }
  // One slice for slots that follow each other.
  for (size_t at = 0; at < slots.size();) {
    const Slot from = slots[at];
    uint32_t run = 1;
    while (at + run < slots.size() && slots[at + run] == from + run) ++run;
    bytes.Append(memory_.Slice(from * size_t{block_bytes_}, run * size_t{block_bytes_},
                               [used = slots_, from, run] {
                                 const std::lock_guard<std::mutex> lock(used->mutex);
                                 for (Slot slot = from; slot < from + run; ++slot)
                                   used->Unref(slot);
                               }));
    at += run;
  }
  return absl::OkStatus();
}

void Blocks::Slots::Unref(Slot slot) {
  // As the place of a block that was never written it has no count.
  if (users[slot] > 0) --users[slot];
  if (users[slot] == 0 && slot != kZero) free.push_back(slot);
}

size_t Blocks::free_slots() const {
  const std::lock_guard<std::mutex> lock(slots_->mutex);
  return slots_->free.size();
}

}  // namespace example
