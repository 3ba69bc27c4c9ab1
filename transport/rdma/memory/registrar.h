// SPDX-License-Identifier: Apache-2.0
//
// RdmaRegistrar: keeps every region of a block pool, and memory of the program, registered with
// every RDMA device in use. Made before the pool, with no library loaded and no device known: where
// RDMA is not used it is a list of a few regions.

#ifndef FARCALL_TRANSPORT_RDMA_MEMORY_REGISTRAR_H_
#define FARCALL_TRANSPORT_RDMA_MEMORY_REGISTRAR_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "absl/functional/any_invocable.h"
#include "absl/status/status.h"
#include "transport/buffer/memory_registrar.h"
#include "transport/loop/event_loop.h"
#include "transport/rdma/memory/region_keys.h"
#include "transport/rdma/verbs/owned.h"
#include "transport/rdma_status.h"

namespace farcall {

// What is registered of the pool, and beside it.
struct RegistrarStats : RdmaMemoryStatus {
  uint64_t user_regions = 0;  // of the program
  uint64_t user_bytes = 0;    // in them
};

// Outlives the pool, the control loop's last turn and the devices that are added. No
// region is ever open to the peer: IBV_ACCESS_LOCAL_WRITE is all that is granted, and where
// wanted IBV_ACCESS_MW_BIND, which lets a memory window open a part of it for a time.
class RdmaRegistrar final : public MemoryRegistrar {
 public:
  // A device in use. Its domain outlives it here.
  struct Device {
    size_t index = 0;  // below kMaxRdmaDevices
    std::string name;
    const VerbsApi* api = nullptr;
    ibv_pd* pd = nullptr;
    bool relaxed_ordering = false;  // wanted
    bool windows = false;           // are bound to its regions
  };

  RdmaRegistrar();
  // Every region is unmapped, every device removed.
  ~RdmaRegistrar() override;

  // Pieces of the program's memory at a time.
  static constexpr size_t kMaxUserRegions = 4096;

  // --- With the control loop held.

  // From now on what is mapped later is registered on `control`, until Detach. Before the
  // first AddDevice.
  void Attach(EventLoop& control);
  // After the last RemoveDevice.
  void Detach();
  // Registers every region of the pool with the device, or none: kMemlock, with the bytes needed
  // and allowed, or kDeviceRefused. 0.1 to 0.2 ms for each MiB. The program's follow, one in a
  // task, so that connections are set up between; one that is refused is sent by copy.
  absl::Status AddDevice(const Device& device);
  // Deregisters what AddDevice registered. No work request refers to it any more. Nothing if
  // the device was not added.
  void RemoveDevice(size_t index);
  // Registers now what the pool mapped since and waits for its turn: after it a block that the
  // pool gave is registered, or the error of device `of` (by default the first of any) tells why
  // one is not.
  absl::Status RegisterPending(std::optional<size_t> of = std::nullopt);

  // --- Any thread.

  // Who registers a region touches its pages, as the kernel pins them, and does so on `node`.
  const RegionKeys* OnMap(std::span<std::byte> region, int node) override;
  // Deregisters on this thread (verbs are thread-safe), after what is being registered.
  void OnUnmap(const RegionKeys* keys) override;
  const RegionKeys* OnMapUser(std::span<std::byte> memory) override;
  // Deregisters on the control loop, where there is one.
  void OnUnmapUser(const RegionKeys* keys, absl::AnyInvocable<void()> done) override;
  absl::Status UserStatus(const RegionKeys* keys) const override;
  RegistrarStats stats() const;

 private:
  struct Region;
  enum class Whose : uint8_t { kPool, kProgram };

  absl::Status RegisterWith(const Device& device, Region& region);
  std::vector<Region*> Regions(Whose whose) const;
  Region* Find(const RegionKeys* keys) const;
  void PostUsers();
  void ServeUsers();
  std::vector<std::unique_ptr<Region>> TakeUnused();
  bool RegisterOneUser();
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
  bool users_posted_ = false;
  RegistrarStats stats_;
};

}  // namespace farcall

#endif  // FARCALL_TRANSPORT_RDMA_MEMORY_REGISTRAR_H_
