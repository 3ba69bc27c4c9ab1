// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_TRANSPORT_RDMA_MEMORY_REGISTRAR_REGION_H_
#define FARCALL_TRANSPORT_RDMA_MEMORY_REGISTRAR_REGION_H_

#include <array>
#include <cstddef>
#include <span>

#include "absl/functional/any_invocable.h"
#include "absl/status/status.h"
#include "transport/rdma/memory/region_keys.h"
#include "transport/rdma/memory/registrar.h"
#include "transport/rdma/verbs/owned.h"

namespace farcall {

// What a registrar knows of one region.
struct RdmaRegistrar::Region {
  Region(std::span<std::byte> bytes, Whose owner, int numa_node = -1)
      : memory(bytes), whose(owner), node(numa_node) {}

  const std::span<std::byte> memory;
  const Whose whose;
  const int node;  // as OnMap says
  RegionKeys keys;
  // Guarded by work_mutex_.
  std::array<MemoryRegion, kMaxRdmaDevices> registered;
  std::array<bool, kMaxRdmaDevices> refused{};  // not tried again until something changes
  // Of the program's, guarded by mutex_.
  size_t devices = 0;    // that have it
  absl::Status refusal;  // the last one
  bool unused = false;   // and to be deregistered
  absl::AnyInvocable<void()> done;
};

}  // namespace farcall

#endif  // FARCALL_TRANSPORT_RDMA_MEMORY_REGISTRAR_REGION_H_
