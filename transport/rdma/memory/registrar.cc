// SPDX-License-Identifier: Apache-2.0

#include "transport/rdma/memory/registrar.h"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <utility>

#include "transport/base/check.h"
#include "transport/base/host/cores.h"
#include "transport/rdma/memory/memlock.h"
#include "transport/rdma/memory/registrar_region.h"

namespace farcall {

RdmaRegistrar::RdmaRegistrar() = default;

RdmaRegistrar::~RdmaRegistrar() {
  Check(
      regions_.empty(),
      "RegisteredMemory, or a slice of it in a Buffer, outlives its Runtime: let go of it before");
  for (const auto& device : devices_) Check(!device, "every device is removed from its registrar");
}

void RdmaRegistrar::Attach(EventLoop& control) {
  const std::lock_guard lock(mutex_);
  control_ = &control;
}

void RdmaRegistrar::Detach() {
  {
    const std::lock_guard work(work_mutex_);
    for (const auto& device : devices_) Check(!device, "devices are removed before Detach");
    const std::lock_guard lock(mutex_);
    control_ = nullptr;
    posted_ = false;
  }
  // What waited for a task.
  ServeUsers();
}

// With work_mutex_ held, which keeps them.
std::vector<RdmaRegistrar::Region*> RdmaRegistrar::Regions(Whose whose) const {
  const std::lock_guard lock(mutex_);
  std::vector<Region*> all;
  all.reserve(regions_.size());
  for (const auto& region : regions_) {
    if (region->whose == whose) all.push_back(region.get());
  }
  return all;
}

// With mutex_ held.
RdmaRegistrar::Region* RdmaRegistrar::Find(const RegionKeys* keys) const {
  for (const auto& region : regions_) {
    if (&region->keys == keys) return region.get();
  }
  Check(false, "only what was mapped is asked for and unmapped");
  return nullptr;
}

absl::Status RdmaRegistrar::AddDevice(const Device& device) {
  const std::lock_guard work(work_mutex_);
  Check(device.index < kMaxRdmaDevices && !devices_[device.index], "a device has its own index");
  // First, so that what is mapped from here on is posted; it waits for work_mutex_.
  devices_[device.index] = device;
  {
    const std::lock_guard lock(mutex_);
    ++devices_in_use_;
  }
  const std::vector<Region*> all = Regions(Whose::kPool);
  for (Region* const region : all) {
    absl::Status status = RegisterWith(device, *region);
    if (status.ok()) continue;
    for (Region* const done : all) Deregister(device.index, *done);
    Forget(device.index);
    return status;
  }
  for (Region* const region : Regions(Whose::kProgram)) region->refused[device.index] = false;
  const std::lock_guard lock(mutex_);
  if (stats_.user_regions > 0) PostUsers();
  return absl::OkStatus();
}

void RdmaRegistrar::RemoveDevice(size_t index) {
  const std::lock_guard work(work_mutex_);
  if (!devices_[index]) return;
  for (const Whose whose : {Whose::kPool, Whose::kProgram}) {
    for (Region* const region : Regions(whose)) Deregister(index, *region);
  }
  Forget(index);
}

// With work_mutex_ held.
void RdmaRegistrar::Forget(size_t index) {
  devices_[index].reset();
  const std::lock_guard lock(mutex_);
  --devices_in_use_;
}

absl::Status RdmaRegistrar::RegisterPending(std::optional<size_t> of) {
  const std::lock_guard work(work_mutex_);
  {
    const std::lock_guard lock(mutex_);
    posted_ = false;
  }
  absl::Status first;
  const std::vector<Region*> all = Regions(Whose::kPool);
  for (const auto& device : devices_) {
    if (!device) continue;
    for (Region* const region : all) {
      const absl::Status registered = RegisterWith(*device, *region);
      if (!of || *of == device->index) first.Update(registered);
    }
  }
  return first;
}

// With work_mutex_ held. Nothing if it is registered.
absl::Status RdmaRegistrar::RegisterWith(const Device& device, Region& region) {
  MemoryRegion& registered = region.registered[device.index];
  if (registered != nullptr) return absl::OkStatus();
  const StayOnNode stay(region.node);
  const auto start = std::chrono::steady_clock::now();
  bool relaxed = device.relaxed_ordering;
  const auto attempt = [&](unsigned int flags) {
    registered = Own(*device.api, device.api->ibv.reg_mr(device.pd, region.memory.data(),
                                                         region.memory.size(), flags));
    return registered != nullptr;
  };
  bool windows = device.windows;
  const unsigned int access = IBV_ACCESS_LOCAL_WRITE | (windows ? IBV_ACCESS_MW_BIND : 0);
  bool done = relaxed && attempt(access | IBV_ACCESS_RELAXED_ORDERING);
  if (!done) {
    relaxed = false;
    done = attempt(access);
  }
  // Not where memory alone was missing: tried again later, it has its windows.
  if (!done && windows && errno != ENOMEM) {
    windows = false;
    done = attempt(IBV_ACCESS_LOCAL_WRITE);
  }
  const int error = errno;
  const auto took = std::chrono::steady_clock::now() - start;

  const std::lock_guard lock(mutex_);
  stats_.registration_seconds += std::chrono::duration<double>(took).count();
  if (!done) {
    ++stats_.failures;
    return RegistrationError(device.name, region.memory.size(),
                             (stats_.region_bytes + stats_.user_bytes) * devices_in_use_, error);
  }
  ++stats_.registrations;
  stats_.relaxed_ordering += relaxed;
  stats_.registered_bytes += region.memory.size();
  ++region.devices;
  region.keys.Set(device.index, registered->lkey, windows ? registered.get() : nullptr);
  return absl::OkStatus();
}

// With work_mutex_ held. Nothing if it is not registered.
void RdmaRegistrar::Deregister(size_t index, Region& region) {
  if (region.registered[index] == nullptr) return;
  region.keys.Clear(index);
  region.registered[index].reset();
  const std::lock_guard lock(mutex_);
  stats_.registered_bytes -= region.memory.size();
  --region.devices;
}

const RegionKeys* RdmaRegistrar::OnMap(std::span<std::byte> region, int node) {
  const std::lock_guard lock(mutex_);
  regions_.push_back(std::make_unique<Region>(region, Whose::kPool, node));
  regions_.back()->keys.registrar = this;
  ++stats_.regions;
  stats_.region_bytes += region.size();
  if (devices_in_use_ > 0 && !posted_) {
    Check(control_ != nullptr, "Attach comes before AddDevice");
    posted_ = true;
    // What cannot be registered is counted, and tried again with the next.
    control_->Post([this] { static_cast<void>(RegisterPending()); });
  }
  return &regions_.back()->keys;
}

void RdmaRegistrar::OnUnmap(const RegionKeys* keys) {
  const std::lock_guard work(work_mutex_);
  Region* found = nullptr;
  {
    const std::lock_guard lock(mutex_);
    found = Find(keys);
  }
  for (size_t i = 0; i < kMaxRdmaDevices; ++i) Deregister(i, *found);
  const std::lock_guard lock(mutex_);
  --stats_.regions;
  stats_.region_bytes -= found->memory.size();
  std::erase_if(regions_, [found](const auto& region) { return region.get() == found; });
}

RegistrarStats RdmaRegistrar::stats() const {
  const std::lock_guard lock(mutex_);
  return stats_;
}

}  // namespace farcall
