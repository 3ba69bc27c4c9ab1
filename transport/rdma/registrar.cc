// SPDX-License-Identifier: Apache-2.0

#include "transport/rdma/registrar.h"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <utility>

#include "transport/base/check.h"
#include "transport/rdma/memlock.h"

namespace farcall {

struct RdmaRegistrar::Region {
  explicit Region(std::span<std::byte> bytes) : memory(bytes) {}

  const std::span<std::byte> memory;
  RegionKeys keys;
  std::array<MemoryRegion, kMaxRdmaDevices> registered;  // guarded by work_mutex_
};

RdmaRegistrar::RdmaRegistrar() = default;

RdmaRegistrar::~RdmaRegistrar() {
  Check(regions_.empty(), "every region is unmapped before its registrar dies");
  for (const auto& device : devices_) Check(!device, "every device is removed from its registrar");
}

void RdmaRegistrar::Attach(EventLoop& control) {
  const std::lock_guard lock(mutex_);
  control_ = &control;
}

void RdmaRegistrar::Detach() {
  const std::lock_guard work(work_mutex_);
  for (const auto& device : devices_) Check(!device, "devices are removed before Detach");
  const std::lock_guard lock(mutex_);
  control_ = nullptr;
  posted_ = false;
}

// With work_mutex_ held, which keeps them.
std::vector<RdmaRegistrar::Region*> RdmaRegistrar::Regions() const {
  const std::lock_guard lock(mutex_);
  std::vector<Region*> all;
  all.reserve(regions_.size());
  for (const auto& region : regions_) all.push_back(region.get());
  return all;
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
  const std::vector<Region*> all = Regions();
  for (Region* const region : all) {
    absl::Status status = RegisterWith(device, *region);
    if (status.ok()) continue;
    for (Region* const done : all) Deregister(device.index, *done);
    Forget(device.index);
    return status;
  }
  return absl::OkStatus();
}

void RdmaRegistrar::RemoveDevice(size_t index) {
  const std::lock_guard work(work_mutex_);
  if (!devices_[index]) return;
  for (Region* const region : Regions()) Deregister(index, *region);
  Forget(index);
}

// With work_mutex_ held.
void RdmaRegistrar::Forget(size_t index) {
  devices_[index].reset();
  const std::lock_guard lock(mutex_);
  --devices_in_use_;
}

absl::Status RdmaRegistrar::RegisterPending() {
  const std::lock_guard work(work_mutex_);
  {
    const std::lock_guard lock(mutex_);
    posted_ = false;
  }
  absl::Status first;
  const std::vector<Region*> all = Regions();
  for (const auto& device : devices_) {
    if (!device) continue;
    for (Region* const region : all) first.Update(RegisterWith(*device, *region));
  }
  return first;
}

// With work_mutex_ held. Nothing if it is registered.
absl::Status RdmaRegistrar::RegisterWith(const Device& device, Region& region) {
  MemoryRegion& registered = region.registered[device.index];
  if (registered != nullptr) return absl::OkStatus();
  const auto start = std::chrono::steady_clock::now();
  bool relaxed = device.relaxed_ordering;
  const auto attempt = [&](unsigned int access) {
    registered = Own(*device.api, device.api->ibv.reg_mr(device.pd, region.memory.data(),
                                                         region.memory.size(), access));
    return registered != nullptr;
  };
  bool done = relaxed && attempt(IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_RELAXED_ORDERING);
  if (!done) {
    relaxed = false;
    done = attempt(IBV_ACCESS_LOCAL_WRITE);
  }
  const int error = errno;
  const auto took = std::chrono::steady_clock::now() - start;

  const std::lock_guard lock(mutex_);
  stats_.registration_ns += static_cast<uint64_t>(std::chrono::nanoseconds(took).count());
  if (!done) {
    ++stats_.failures;
    return RegistrationError(device.name, region.memory.size(),
                             stats_.region_bytes * devices_in_use_, error);
  }
  ++stats_.registrations;
  stats_.relaxed_ordering += relaxed;
  stats_.registered_bytes += region.memory.size();
  region.keys.Set(device.index, registered->lkey);
  return absl::OkStatus();
}

// With work_mutex_ held. Nothing if it is not registered.
void RdmaRegistrar::Deregister(size_t index, Region& region) {
  if (region.registered[index] == nullptr) return;
  region.keys.Clear(index);
  region.registered[index].reset();
  const std::lock_guard lock(mutex_);
  stats_.registered_bytes -= region.memory.size();
}

const RegionKeys* RdmaRegistrar::OnMap(std::span<std::byte> region) {
  const std::lock_guard lock(mutex_);
  regions_.push_back(std::make_unique<Region>(region));
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
  for (Region* const region : Regions()) {
    if (&region->keys == keys) found = region;
  }
  Check(found != nullptr, "only what was mapped is unmapped");
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
