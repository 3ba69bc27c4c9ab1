// SPDX-License-Identifier: Apache-2.0

#include "transport/buffer/registered_memory.h"

#include <algorithm>
#include <atomic>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "transport/base/check.h"
#include "transport/buffer/heap_block.h"

namespace farcall {

// The blocks over the memory. Destroys itself when none of them is referenced any more, and no
// device knows them.
class RegisteredMemory::State final : public BlockOwner {
 public:
  State(MemoryRegistrar* registrar, std::span<std::byte> memory)
      : registrar_(registrar), memory_(memory), pieces_((memory.size() + kPiece - 1) / kPiece) {
    for (size_t i = 0; i < pieces_.size(); ++i) {
      Block& block = pieces_[i].block;
      block.data = memory.data() + i * kPiece;
      block.capacity = static_cast<uint32_t>(std::min(kPiece, memory.size() - i * kPiece));
      block.owner = this;
      block.of_program = true;
    }
  }

  // False: over the limit, and nothing is registered.
  bool RegisterAll() {
    if (registrar_ == nullptr) return true;
    for (Piece& piece : pieces_) {
      piece.block.keys = registrar_->OnMapUser({piece.block.data, piece.block.capacity});
      if (piece.block.keys != nullptr) continue;
      for (Piece& done : pieces_) {
        if (done.block.keys != nullptr) registrar_->OnUnmapUser(done.block.keys, nullptr);
      }
      return false;
    }
    return true;
  }
  // The handle's references.
  std::vector<BlockRef> Use(absl::AnyInvocable<void()> released) {
    released_ = std::move(released);
    in_use_ = pieces_.size();
    std::vector<BlockRef> references;
    for (Piece& piece : pieces_) {
      piece.block.references.store(1, std::memory_order_relaxed);
      references.push_back(BlockRef::Adopt(piece.block));
    }
    return references;
  }

  std::span<std::byte> memory() const { return memory_; }
  absl::Status status() const {
    if (registrar_ == nullptr) return absl::OkStatus();
    for (const Piece& piece : pieces_) {
      absl::Status status = registrar_->UserStatus(piece.block.keys);
      if (!status.ok()) return status;
    }
    return absl::OkStatus();
  }

  void Recycle(Block&) override {
    if (in_use_.fetch_sub(1, std::memory_order_acq_rel) > 1) return;
    if (registrar_ == nullptr) return Release();
    in_use_ = pieces_.size();
    // The last of them may end this before the loop does.
    const size_t count = pieces_.size();
    for (size_t i = 0; i < count; ++i) {
      registrar_->OnUnmapUser(pieces_[i].block.keys, [this] {
        if (in_use_.fetch_sub(1, std::memory_order_acq_rel) == 1) Release();
      });
    }
  }

 private:
  // A cache line each: threads that count references to neighbours do not meet.
  struct alignas(64) Piece {
    Block block;
  };

  void Release() {
    // The object is gone before user code runs.
    absl::AnyInvocable<void()> released = std::move(released_);
    delete this;
    if (released) released();
  }

  MemoryRegistrar* const registrar_;
  const std::span<std::byte> memory_;
  std::vector<Piece> pieces_;
  std::atomic<size_t> in_use_{0};  // pieces that are referenced, then those that devices know
  absl::AnyInvocable<void()> released_;
};

struct RegisteredMemory::Handle {
  const State& state;  // lives as long as any of these
  const std::vector<BlockRef> pieces;
};

absl::StatusOr<RegisteredMemory> RegisteredMemory::Register(MemoryRegistrar* registrar,
                                                            std::span<std::byte> memory,
                                                            absl::AnyInvocable<void()> released) {
  if (memory.empty() || memory.data() == nullptr) {
    return absl::InvalidArgumentError("memory without bytes cannot be registered");
  }
  auto state = std::make_unique<State>(registrar, memory);
  if (!state->RegisterAll()) {
    return absl::ResourceExhaustedError(
        "too many pieces of memory are registered: register fewer, larger ones");
  }
  State& shared = *state.release();
  return RegisteredMemory(
      std::shared_ptr<const Handle>(new Handle{shared, shared.Use(std::move(released))}));
}

std::span<std::byte> RegisteredMemory::memory() const { return handle_->state.memory(); }

Buffer RegisteredMemory::Slice(size_t offset, size_t length,
                               absl::AnyInvocable<void()> done) const {
  Check(offset <= size() && length <= size() - offset, "a slice lies within its memory");
  Buffer slice;
  // Runs it when the last part of the slice lets go.
  std::shared_ptr<void> last;
  if (done) {
    auto shared = std::make_shared<absl::AnyInvocable<void()>>(std::move(done));
    last = std::shared_ptr<void>(shared.get(), [shared](void*) { (*shared)(); });
  }
  while (length > 0) {
    const BlockRef& piece = handle_->pieces[offset / kPiece];
    const auto at = static_cast<uint32_t>(offset % kPiece);
    const auto part = static_cast<uint32_t>(std::min<size_t>(length, piece->capacity - at));
    if (last == nullptr) {
      slice.Append(piece, at, part);
    } else {
      BlockRef own = NewUserBlock(
          piece->data + at, part, [piece, last] {}, piece->keys);
      slice.Append(std::move(own), 0, part);
    }
    offset += part;
    length -= part;
  }
  return slice;
}

absl::StatusOr<Buffer> RegisteredMemory::TrySlice(size_t offset, size_t length,
                                                  absl::AnyInvocable<void()> done) const {
  if (offset > size() || length > size() - offset) {
    return absl::OutOfRangeError(absl::StrCat(length, " bytes from offset ", offset,
                                              " on are asked of memory of ", size(), " bytes"));
  }
  return Slice(offset, length, std::move(done));
}

bool RegisteredMemory::idle() const {
  return std::all_of(handle_->pieces.begin(), handle_->pieces.end(),
                     [](const BlockRef& piece) { return piece.unique(); });
}

absl::Status RegisteredMemory::status() const { return handle_->state.status(); }

}  // namespace farcall
