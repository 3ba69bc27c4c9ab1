// SPDX-License-Identifier: Apache-2.0
//
// What a registrar does with the program's memory.

#include <algorithm>
#include <iterator>
#include <utility>

#include "absl/strings/str_cat.h"
#include "transport/base/check.h"
#include "transport/base/errno_status.h"
#include "transport/rdma/memory/registrar.h"
#include "transport/rdma/memory/registrar_region.h"

namespace farcall {

const RegionKeys* RdmaRegistrar::OnMapUser(std::span<std::byte> memory) {
  const std::lock_guard lock(mutex_);
  if (stats_.user_regions == kMaxUserRegions) return nullptr;
  regions_.push_back(std::make_unique<Region>(memory, Whose::kProgram));
  regions_.back()->keys.registrar = this;
  ++stats_.user_regions;
  stats_.user_bytes += memory.size();
  if (devices_in_use_ > 0) PostUsers();
  return &regions_.back()->keys;
}

void RdmaRegistrar::OnUnmapUser(const RegionKeys* keys, absl::AnyInvocable<void()> done) {
  {
    const std::lock_guard lock(mutex_);
    Region& region = *Find(keys);
    region.unused = true;
    region.done = std::move(done);
    if (control_ != nullptr) return PostUsers();
  }
  // There is no device, and no thread holds work_mutex_ for long.
  ServeUsers();
}

absl::Status RdmaRegistrar::UserStatus(const RegionKeys* keys) const {
  const std::lock_guard lock(mutex_);
  const Region& region = *Find(keys);
  if (region.devices >= devices_in_use_) return absl::OkStatus();
  if (!region.refusal.ok()) return Detached(region.refusal);
  return absl::UnavailableError(absl::StrCat(
      region.memory.size(), " bytes are being registered; they are copied until then"));
}

// With mutex_ held.
void RdmaRegistrar::PostUsers() {
  Check(control_ != nullptr, "Attach comes before AddDevice");
  if (std::exchange(users_posted_, true)) return;
  control_->Post([this] { ServeUsers(); });
}

// Deregisters what is unused, and registers one that is not; posts a task for each further one.
void RdmaRegistrar::ServeUsers() {
  std::vector<std::unique_ptr<Region>> unused;
  {
    const std::lock_guard work(work_mutex_);
    {
      const std::lock_guard lock(mutex_);
      users_posted_ = false;
    }
    unused = TakeUnused();
    if (RegisterOneUser()) {
      const std::lock_guard lock(mutex_);
      PostUsers();
    }
  }
  for (const std::unique_ptr<Region>& region : unused) {
    if (region->done) region->done();
  }
}

// With work_mutex_ held.
std::vector<std::unique_ptr<RdmaRegistrar::Region>> RdmaRegistrar::TakeUnused() {
  std::vector<std::unique_ptr<Region>> unused;
  {
    const std::lock_guard lock(mutex_);
    const auto first = std::stable_partition(regions_.begin(), regions_.end(),
                                             [](const auto& region) { return !region->unused; });
    std::move(first, regions_.end(), std::back_inserter(unused));
    regions_.erase(first, regions_.end());
  }
  if (unused.empty()) return unused;
  for (const std::unique_ptr<Region>& region : unused) {
    for (size_t i = 0; i < kMaxRdmaDevices; ++i) Deregister(i, *region);
    const std::lock_guard lock(mutex_);
    --stats_.user_regions;
    stats_.user_bytes -= region->memory.size();
  }
  // There is room again for what was refused.
  for (Region* const region : Regions(Whose::kProgram)) region->refused.fill(false);
  return unused;
}

// With work_mutex_ held. True: there is more to do.
bool RdmaRegistrar::RegisterOneUser() {
  bool one = false;
  for (Region* const region : Regions(Whose::kProgram)) {
    for (const auto& device : devices_) {
      if (!device || region->registered[device->index] != nullptr) continue;
      if (region->refused[device->index]) continue;
      if (std::exchange(one, true)) return true;
      const absl::Status status = RegisterWith(*device, *region);
      region->refused[device->index] = !status.ok();
      if (status.ok()) continue;
      const std::lock_guard lock(mutex_);
      region->refusal = status;
    }
  }
  return false;
}

}  // namespace farcall
