// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_RPC_CALL_ATTACHMENT_MEMORY_H_
#define FARCALL_RPC_CALL_ATTACHMENT_MEMORY_H_

#include <cstddef>
#include <cstdint>
#include <utility>

#include "absl/functional/function_ref.h"
#include "transport/buffer/buffer.h"

namespace farcall {

// Memory of the program in which an attachment shall come to lie, from its beginning. Pure.
class AttachmentMemory {
 public:
  AttachmentMemory() = default;
  explicit AttachmentMemory(Buffer memory) : memory_(std::move(memory)) {}

  size_t size() const { return memory_.size(); }
  bool empty() const { return memory_.empty(); }
  // [offset, offset + bytes) of it.
  Buffer Part(size_t offset, size_t bytes) const;
  // The attachment that came, which fits, at its place: what lies there already is not touched,
  // the rest is copied, and counted in `copied`.
  Buffer Gather(const Buffer& came, uint64_t& copied) const;
  // How many bytes of `came` lie at their place already: of an attachment, behind `skip` others.
  size_t Lying(const Buffer& came, size_t skip) const;

 private:
  using Piece = absl::FunctionRef<void(const char* source, char* target, uint32_t bytes)>;

  void Compare(const Buffer& came, size_t skip, Piece piece) const;

  Buffer memory_;
};

}  // namespace farcall

#endif  // FARCALL_RPC_CALL_ATTACHMENT_MEMORY_H_
