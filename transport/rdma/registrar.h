// SPDX-License-Identifier: Apache-2.0
//
// RdmaRegistrar: keeps every region of a block pool registered with every RDMA device in
// use. Made before the pool, with no library loaded and no device known: where nobody uses
// RDMA it is a list of a few regions.

#ifndef FARCALL_TRANSPORT_RDMA_REGISTRAR_H_
#define FARCALL_TRANSPORT_RDMA_REGISTRAR_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "transport/buffer/memory_registrar.h"
#include "transport/loop/event_loop.h"
#include "transport/rdma/region_keys.h"
#include "transport/rdma/verbs/owned.h"

namespace farcall {

struct RegistrarStats {
  size_t regions = 0;             // of the pool
  size_t region_bytes = 0;        // in them
  size_t registered_bytes = 0;    // of each device, added up
  uint64_t registrations = 0;     // calls of ibv_reg_mr that gave a region
  uint64_t failures = 0;          // that gave none; its blocks are copied when sent
  uint64_t registration_ns = 0;   // time that all of them took
  uint64_t relaxed_ordering = 0;  // of the registrations, those that have it
};

// Outlives the pool, the control loop's last turn and the devices that are added. No
// region is ever open to the peer: IBV_ACCESS_LOCAL_WRITE is all that is granted.
class RdmaRegistrar final : public MemoryRegistrar {
 public:
  // A device in use. Its domain outlives it here.
  struct Device {
    size_t index = 0;  // below kMaxRdmaDevices
    std::string name;
    const VerbsApi* api = nullptr;
    ibv_pd* pd = nullptr;
    bool relaxed_ordering = false;  // wanted
  };

  RdmaRegistrar();
  // Every region is unmapped, every device removed.
  ~RdmaRegistrar() override;

  // --- With the control loop held.

  // From now on what is mapped later is registered on `control`, until Detach. Before the
  // first AddDevice.
  void Attach(EventLoop& control);
  // After the last RemoveDevice.
  void Detach();
  // Registers every region with the device, or none: kMemlock, with the bytes needed and
  // allowed, or kDeviceRefused. 0.1 to 0.2 ms for each MiB.
  absl::Status AddDevice(const Device& device);
  // Deregisters what AddDevice registered. No work request refers to it any more. Nothing if
  // the device was not added.
  void RemoveDevice(size_t index);
  // Registers now what was mapped since and waits for its turn: after it a block that the
  // pool gave is registered, or the error tells why one is not.
  absl::Status RegisterPending();

  // --- Any thread.

  const RegionKeys* OnMap(std::span<std::byte> region) override;
  // Deregisters on this thread (verbs are thread-safe), after what is being registered.
  void OnUnmap(const RegionKeys* keys) override;
  RegistrarStats stats() const;

 private:
  struct Region;
  absl::Status RegisterWith(const Device& device, Region& region);
  std::vector<Region*> Regions() const;
  void Deregister(size_t index, Region& region);
  void Forget(size_t index);

  // Held while regions are registered and deregistered, before mutex_: milliseconds. Not
  // taken by OnMap, which a data loop calls.
  mutable std::mutex work_mutex_;
  std::array<std::optional<Device>, kMaxRdmaDevices> devices_;

  mutable std::mutex mutex_;
  // Added to with mutex_ held, taken from with both: an element stays while either is held.
  std::vector<std::unique_ptr<Region>> regions_;
  EventLoop* control_ = nullptr;
  size_t devices_in_use_ = 0;
  bool posted_ = false;
  RegistrarStats stats_;
};

}  // namespace farcall

#endif  // FARCALL_TRANSPORT_RDMA_REGISTRAR_H_
