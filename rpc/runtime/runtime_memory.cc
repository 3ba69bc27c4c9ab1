// SPDX-License-Identifier: Apache-2.0
//
// What a program has of a runtime's memory, and the runtime of the program's.

#include <utility>

#include "rpc/runtime/runtime.h"
#include "transport/buffer/registration_cache.h"
#include "transport/buffer/right_sized.h"
#include "transport/copy_tally.h"

namespace farcall {

absl::StatusOr<RegisteredMemory> Runtime::RegisterMemory(
    std::span<std::byte> memory, absl::AnyInvocable<void()> released) const {
  return RegisteredMemory::Register(parts_.registrar, memory, std::move(released));
}

void Runtime::ForgetMemory(const void* begin, size_t bytes) const {
  if (parts_.registrations != nullptr) parts_.registrations->Forget(begin, bytes);
}

absl::StatusOr<Buffer> Runtime::AllocateBuffer(size_t bytes) const {
  return farcall::AllocateBuffer(*parts_.pool, bytes);
}

Buffer Runtime::RightSized(Buffer bytes) const {
  return farcall::RightSized(*parts_.pool, std::move(bytes));
}

CopiedBytes Runtime::copied_bytes() const {
  return parts_.copied != nullptr ? parts_.copied->Sum() : CopiedBytes();
}

}  // namespace farcall
