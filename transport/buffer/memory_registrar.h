// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_TRANSPORT_BUFFER_MEMORY_REGISTRAR_H_
#define FARCALL_TRANSPORT_BUFFER_MEMORY_REGISTRAR_H_

#include <cstddef>
#include <span>

#include "absl/functional/any_invocable.h"
#include "absl/status/status.h"
#include "transport/buffer/block.h"

namespace farcall {

// Makes the memory of a pool, and of the program, known to devices. Implemented by transport/rdma;
// memory that only TCP uses has none. Any thread.
class MemoryRegistrar {
 public:
  virtual ~MemoryRegistrar() = default;
  // `region` was mapped, and stays until OnUnmap. Also with a loop held, so it returns at
  // once: registering takes 0.1 ms per MiB and more and follows on a thread for that, with
  // the devices in use then and later. Until then its blocks are ordinary memory, which a
  // device is given by copy. `node`: the NUMA node where its pages shall lie, which are not
  // touched yet; -1: it does not matter. Not null.
  virtual const RegionKeys* OnMap(std::span<std::byte> region, int node) = 0;
  // No block of the region is referenced any more, and it is about to be unmapped: when
  // this returns no device knows it. Not with a loop held.
  virtual void OnUnmap(const RegionKeys* keys) = 0;

  // As OnMap, for memory of the program: a device that refuses it is used all the same. Null:
  // there is too much of it to be kept in order.
  virtual const RegionKeys* OnMapUser(std::span<std::byte> memory) = 0;
  // None of its blocks is referenced any more. Also with a loop held; returns at once. `done` (may
  // be null) runs once no device knows it, on any thread, perhaps before this returns.
  virtual void OnUnmapUser(const RegionKeys* keys, absl::AnyInvocable<void()> done) = 0;
  // As RegisteredMemory::status.
  virtual absl::Status UserStatus(const RegionKeys* keys) const = 0;
};

}  // namespace farcall

#endif  // FARCALL_TRANSPORT_BUFFER_MEMORY_REGISTRAR_H_
