// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_TRANSPORT_RDMA_MEMORY_REGION_KEYS_H_
#define FARCALL_TRANSPORT_RDMA_MEMORY_REGION_KEYS_H_

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>

struct ibv_mr;

namespace farcall {

// Devices that one process uses at once; each has an index below this.
constexpr size_t kMaxRdmaDevices = 16;

// The local keys of one region of the block pool, one for each device: what Block::keys
// points to. Any thread. Written when the control loop has registered the region or is
// about to deregister it, read when a work request is posted: what is not (yet) registered
// with a device is copied into a block that is.
struct RegionKeys {
  std::optional<uint32_t> lkey(size_t device) const {
    const uint64_t entry = entries[device].load(std::memory_order_acquire);
    if (entry == 0) return std::nullopt;
    return static_cast<uint32_t>(entry);
  }
  // What memory windows are bound to; null: not registered, or the device has none. Lives as
  // long as a queue pair of that device and a block of the region.
  ibv_mr* region(size_t device) const { return regions[device].load(std::memory_order_acquire); }
  void Set(size_t device, uint32_t lkey, ibv_mr* windowed = nullptr) {
    regions[device].store(windowed, std::memory_order_release);
    entries[device].store(kRegistered | lkey, std::memory_order_release);
  }
  void Clear(size_t device) {
    entries[device].store(0, std::memory_order_release);
    regions[device].store(nullptr, std::memory_order_release);
  }

  // Whose indices they are, set before anybody sees this: a process may have several registrars,
  // and a block of one pool may be sent by what belongs to another.
  const void* registrar = nullptr;

  static constexpr uint64_t kRegistered = uint64_t{1} << 32;
  std::array<std::atomic<uint64_t>, kMaxRdmaDevices> entries{};
  std::array<std::atomic<ibv_mr*>, kMaxRdmaDevices> regions{};
};

}  // namespace farcall

#endif  // FARCALL_TRANSPORT_RDMA_MEMORY_REGION_KEYS_H_
