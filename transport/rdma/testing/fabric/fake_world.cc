// SPDX-License-Identifier: Apache-2.0

#include "transport/rdma/testing/fabric/fake_world.h"

#include <algorithm>
#include <atomic>
#include <utility>

#include "absl/strings/str_cat.h"
#include "transport/base/check.h"

namespace farcall {
namespace {

std::atomic<FakeWorld*> current{nullptr};

constexpr size_t kMaxViolations = 100;

}  // namespace

FakeWorld::FakeWorld(FakeFabricOptions fabric_options)
    : options(std::move(fabric_options)), random(options.seed), cm(*this) {
  for (const FakeDeviceOptions& device : options.devices) {
    devices.push_back(std::make_unique<FakeDevice>(devices.size(), device));
  }
  Check(current.exchange(this) == nullptr, "one FakeFabric at a time");
}

FakeWorld::~FakeWorld() { current = nullptr; }

FakeWorld& FakeWorld::Current() {
  FakeWorld* const world = current;
  Check(world != nullptr, "the table of a FakeFabric is used while it lives");
  return *world;
}

void FakeWorld::Violation(std::string what) {
  if (violations.size() < kMaxViolations) violations.push_back(std::move(what));
}

FakeDevice& FakeWorld::Device(absl::string_view name) {
  for (const auto& device : devices) {
    if (device->options.name == name) return *device;
  }
  CheckFailed("no fake device has this name", __FILE__, __LINE__, __func__);
}

FakeContext& FakeWorld::Open(FakeDevice& device, bool of_cm) {
  return *contexts.emplace_back(std::make_unique<FakeContext>(*this, device, of_cm));
}

FakeContext* FakeWorld::FindCmContext(const FakeDevice& device) const {
  for (const auto& context : contexts) {
    if (&context->owner == &device && context->librdmacm && !context->closed && !context->dead &&
        !context->replaced) {
      return context.get();
    }
  }
  return nullptr;
}

FakeContext& FakeWorld::CmContext(FakeDevice& device) {
  FakeContext* const found = FindCmContext(device);
  return found != nullptr ? *found : Open(device, /*of_cm=*/true);
}

void FakeWorld::DropDeadContexts() {
  if (std::all_of(devices.begin(), devices.end(),
                  [](const auto& device) { return device->removed; })) {
    return;
  }
  for (const auto& context : contexts) {
    if (context->librdmacm && context->dead && !context->closed && context->objects == 0 &&
        !cm.InUse(*context)) {
      context->closed = true;
      context->async.Close();
    }
  }
}

bool FakeWorld::RemovalPending(const FakeDevice& device) const {
  return std::any_of(contexts.begin(), contexts.end(), [&](const auto& context) {
    return &context->owner == &device && context->dead && !context->closed && !context->released;
  });
}

bool FakeWorld::IsCut(const FakeDevice& from, const FakeDevice& to) const {
  return std::any_of(cuts.begin(), cuts.end(),
                     [&](const CutPath& cut) { return cut.Joins(from, to); });
}

bool FakeWorld::Silent(const FakeDevice& from, const FakeDevice& to) const {
  return std::any_of(cuts.begin(), cuts.end(),
                     [&](const CutPath& cut) { return cut.silent && cut.Joins(from, to); });
}

void FakeWorld::OnPathsChanged() {
  for (FakeQp* const qp : live_queue_pairs) qp->OnPeerChanged();
}

void FakeWorld::RemoveDevice(FakeDevice& device, bool flush) {
  device.flush_when_removed = flush;
  const auto break_all = [&] {
    for (FakeQp* const qp : live_queue_pairs) {
      if (&qp->device() == &device) qp->Break();
    }
  };
  // A stream of iWARP ends while its device is still there; else the peer does not notice.
  if (device.iwarp()) break_all();
  device.removed = true;
  for (const auto& context : contexts) {
    if (&context->owner == &device) context->dead = true;
  }
  break_all();
  cm.OnDeviceRemoved(device);
  cm.Pump();
}

bool FakeWorld::Step() {
  ++now;
  bool timed = false;
  for (FakeQp* const qp : live_queue_pairs) {
    if (qp->OnTime(now)) return true;
    timed = timed || qp->timed();
  }
  std::vector<FakeQp*> movers;
  for (FakeQp* const qp : live_queue_pairs) {
    if (qp->CanMove()) movers.push_back(qp);
  }
  const std::vector<size_t> actions = cm.schedule.Ready();
  const size_t choices = movers.size() + actions.size();
  if (choices == 0) return timed || !cm.schedule.empty();
  const size_t choice = random.Below(choices);
  if (choice < movers.size()) {
    movers[choice]->Move(random.Next() >> 32);
  } else {
    cm.schedule.Run(actions[choice - movers.size()]);
  }
  return true;
}

std::vector<std::string> FakeWorld::Leaks() const {
  std::vector<std::string> leaks;
  memory.AddLeaks(leaks);
  for (const auto& context : contexts) {
    if (!context->closed && !context->librdmacm) {
      leaks.push_back(absl::StrCat("open device ", context->owner.options.name));
    }
  }
  for (const auto& channel : channels) {
    if (!channel->destroyed) leaks.push_back("completion channel");
  }
  for (const auto& queue : completion_queues) {
    if (!queue->destroyed) leaks.push_back("completion queue");
  }
  for (const auto& queue : receive_queues) {
    if (!queue->destroyed) leaks.push_back("shared receive queue");
  }
  for (const FakeQp* qp : live_queue_pairs) {
    leaks.push_back(absl::StrCat("queue pair ", qp->qp_num, " on ", qp->device().options.name));
  }
  if (lists > 0) leaks.push_back("list of devices");
  cm.AddLeaks(leaks);
  return leaks;
}

}  // namespace farcall
