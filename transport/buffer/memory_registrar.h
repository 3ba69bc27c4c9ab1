// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_TRANSPORT_BUFFER_MEMORY_REGISTRAR_H_
#define FARCALL_TRANSPORT_BUFFER_MEMORY_REGISTRAR_H_

#include <cstddef>
#include <span>

#include "absl/status/statusor.h"
#include "transport/buffer/block.h"

namespace farcall {

// Makes memory known to devices. Implemented by transport/rdma; memory that only
// TCP uses has none.
class MemoryRegistrar {
 public:
  virtual ~MemoryRegistrar() = default;
  // Registers `region` with every device in use: 0.1 ms per MiB and more, so never
  // on a loop. The keys live until Unregister. Fails with the number of bytes
  // that memlock would have to allow.
  virtual absl::StatusOr<const RegionKeys*> Register(std::span<std::byte> region) = 0;
  // No block of the region is referenced any more.
  virtual void Unregister(const RegionKeys* keys) = 0;
};

}  // namespace farcall

#endif  // FARCALL_TRANSPORT_BUFFER_MEMORY_REGISTRAR_H_
