// SPDX-License-Identifier: Apache-2.0

#include "transport/rdma/testing/fabric/fake_fabric.h"

#include <stdio.h>

#include <utility>

#include "transport/base/check.h"
#include "transport/rdma/testing/fabric/fake_api.h"
#include "transport/rdma/testing/fabric/fake_world.h"

namespace farcall {

FakeFabric::FakeFabric(FakeFabricOptions options)
    : world_(std::make_unique<FakeWorld>(std::move(options))),
      api_{.ibv = FakeIbv(), .rdma = FakeRdmaCm()},
      faults_(*world_) {}

FakeFabric::~FakeFabric() { CheckClean(); }

bool FakeFabric::Step() {
  std::lock_guard lock(world_->mutex);
  return world_->Step();
}

void FakeFabric::Settle(uint64_t limit) {
  for (uint64_t i = 0; i < limit; ++i) {
    if (!Step()) return;
  }
}

uint64_t FakeFabric::steps() const {
  std::lock_guard lock(world_->mutex);
  return world_->now;
}

std::vector<std::string> FakeFabric::violations() const {
  std::lock_guard lock(world_->mutex);
  return world_->violations;
}

std::vector<std::string> FakeFabric::Leaks() const {
  std::lock_guard lock(world_->mutex);
  return world_->Leaks();
}

void FakeFabric::CheckClean() const {
  std::lock_guard lock(world_->mutex);
  if (world_->violations_expected) return;
  const std::vector<std::string> leaks = world_->Leaks();
  for (const std::string& violation : world_->violations) {
    fprintf(stderr, "FakeFabric: violation: %s\n", violation.c_str());
  }
  for (const std::string& leak : leaks) {
    fprintf(stderr, "FakeFabric: still alive: %s\n", leak.c_str());
  }
  Check(world_->violations.empty() && leaks.empty(), "the fabric was used as it must not be");
}

void FakeFabric::ExpectViolations() {
  std::lock_guard lock(world_->mutex);
  world_->violations_expected = true;
}

FakeCounters FakeFabric::counters(absl::string_view device) const {
  std::lock_guard lock(world_->mutex);
  return world_->Device(device).counters;
}

bool FakeFabric::IsOpen(const void* byte) const {
  std::lock_guard lock(world_->mutex);
  return world_->memory.HasWindowAt(reinterpret_cast<uint64_t>(byte));
}

std::vector<int> FakeFabric::completion_descriptors() const {
  std::lock_guard lock(world_->mutex);
  std::vector<int> descriptors;
  for (const auto& channel : world_->channels) {
    if (!channel->destroyed) descriptors.push_back(channel->fd);
  }
  return descriptors;
}

FakeFabric::IdOptions FakeFabric::id_options(const rdma_cm_id* id) const {
  std::lock_guard lock(world_->mutex);
  const FakeId& fake = *static_cast<const FakeId*>(id);
  return {.tos = fake.tos, .ack_timeout = fake.ack_timeout};
}

ibv_qp_attr FakeFabric::queue_pair(uint32_t qp_num) const {
  std::lock_guard lock(world_->mutex);
  const FakeQp* const qp = world_->pairs.Find(qp_num);
  Check(qp != nullptr, "no queue pair has this number");
  return qp->Attributes();
}

}  // namespace farcall
