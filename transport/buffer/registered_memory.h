// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_TRANSPORT_BUFFER_REGISTERED_MEMORY_H_
#define FARCALL_TRANSPORT_BUFFER_REGISTERED_MEMORY_H_

#include <cstddef>
#include <memory>
#include <span>

#include "absl/functional/any_invocable.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "transport/buffer/buffer.h"
#include "transport/buffer/memory_registrar.h"

namespace farcall {

// Memory of the program that every RDMA device knows which is in use, now or later: slices of it
// are sent, and received into, where they lie (docs/memory.md). Without RDMA, and where a device
// refuses it, its slices are ordinary ones, which cost a copy where a device sends them.
//
// A handle, counted: copies stand for the same memory. It may be dropped while slices are under
// way; the memory is no longer known to any device when the last handle and the last
// slice are gone. Any thread; one handle is one thread's at a time, but for const methods.
class RegisteredMemory {
 public:
  // Registered in one piece; larger memory in several, so that other work of the thread that
  // registers comes between. Blocks of a Buffer have less than 4 GiB anyway.
  static constexpr size_t kPiece = size_t{1} << 30;

  // None.
  RegisteredMemory() = default;

  // Use Runtime::RegisterMemory. `memory` may begin anywhere, may be written to, and may overlap
  // other registered memory. It stays mapped until `released` (may be null) has run: once, on
  // any thread, perhaps one that holds a loop, so it neither blocks nor calls into
  // connections or channels. Registering follows; status() tells how it went. `registrar` (null:
  // there are no devices) outlives the memory's release. kInvalidArgument: no bytes.
  // kResourceExhausted: over the registrar's limit. Then `released` is not run.
  static absl::StatusOr<RegisteredMemory> Register(MemoryRegistrar* registrar,
                                                   std::span<std::byte> memory,
                                                   absl::AnyInvocable<void()> released);

  explicit operator bool() const { return handle_ != nullptr; }
  // The rest only where there is some.
  std::span<std::byte> memory() const;
  size_t size() const { return memory().size(); }

  // [offset, offset + length), within it, without a copy. `done` (may be null) runs once, when
  // the last reference to these bytes of this slice is dropped, under the rules of `released`:
  // then the library neither reads nor writes them on its behalf any more. Perhaps before this
  // returns (length 0).
  Buffer Slice(size_t offset, size_t length, absl::AnyInvocable<void()> done = nullptr) const;
  // The same for numbers that a peer chose: kOutOfRange where they do not lie within it, and `done`
  // is not run.
  absl::StatusOr<Buffer> TrySlice(size_t offset, size_t length,
                                  absl::AnyInvocable<void()> done = nullptr) const;
  // There is no slice of it. Once it is true it stays so until the next Slice.
  bool idle() const;
  // OK: all devices in use know it, or there are none. kUnavailable: it is being registered; until
  // it is, its slices are copied. Else why a device refused it: for the limit of locked memory
  // with the bytes needed and allowed. It is tried again when other memory is released, or
  // a device comes.
  absl::Status status() const;

 private:
  class State;
  struct Handle;
  explicit RegisteredMemory(std::shared_ptr<const Handle> handle) : handle_(std::move(handle)) {}

  std::shared_ptr<const Handle> handle_;
};

}  // namespace farcall

#endif  // FARCALL_TRANSPORT_BUFFER_REGISTERED_MEMORY_H_
