// SPDX-License-Identifier: Apache-2.0

#include "transport/rdma/testing/fabric/fake_world.h"

#include <algorithm>
#include <atomic>
#include <utility>

#include "absl/strings/str_cat.h"
#include "transport/base/check.h"
#include "transport/rdma/testing/fabric/fake_api.h"

namespace farcall {
namespace {

std::atomic<FakeWorld*> current{nullptr};

}  // namespace

FakeWorld::FakeWorld(FakeFabricOptions fabric_options)
    : FakeHost(std::move(fabric_options), FakeDataPath()), pairs(*this), cm(*this, pairs) {
  Check(current.exchange(this) == nullptr, "one FakeFabric at a time");
}

FakeWorld::~FakeWorld() { current = nullptr; }

FakeWorld& FakeWorld::Current() {
  FakeWorld* const world = current;
  Check(world != nullptr, "the table of a FakeFabric is used while it lives");
  return *world;
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

void FakeWorld::OnPathsChanged() {
  for (FakeQp* const qp : pairs.live()) qp->OnPeerChanged();
}

void FakeWorld::RemoveDevice(FakeDevice& device, bool flush) {
  device.flush_when_removed = flush;
  const auto break_all = [&] {
    for (FakeQp* const qp : pairs.live()) {
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
  for (FakeQp* const qp : pairs.live()) {
    if (qp->OnTime(now)) return true;
    timed = timed || qp->timed();
  }
  std::vector<FakeQp*> movers;
  for (FakeQp* const qp : pairs.live()) {
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
  for (const FakeQp* qp : pairs.live()) {
    leaks.push_back(absl::StrCat("queue pair ", qp->qp_num, " on ", qp->device().options.name));
  }
  if (lists > 0) leaks.push_back("list of devices");
  cm.AddLeaks(leaks);
  return leaks;
}

}  // namespace farcall
