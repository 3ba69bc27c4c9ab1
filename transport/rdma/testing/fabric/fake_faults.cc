// SPDX-License-Identifier: Apache-2.0

#include "transport/rdma/testing/fabric/fake_faults.h"

#include <algorithm>
#include <mutex>

#include "transport/rdma/testing/fabric/device/fake_subject.h"
#include "transport/rdma/testing/fabric/fake_world.h"

namespace farcall {
namespace {

void Raise(FakeWorld& world, const FakeDevice& device, const ibv_async_event& event) {
  for (const auto& context : world.contexts) {
    if (&context->owner == &device && !context->closed) context->async.Push(event);
  }
}

}  // namespace

void FakeFaults::FailCall(absl::string_view name, int nth, int error) {
  std::lock_guard lock(world_.mutex);
  world_.plan.FailCall(name, nth, error);
}

void FakeFaults::FailEvery(absl::string_view name, int error) {
  std::lock_guard lock(world_.mutex);
  world_.plan.FailEvery(name, error);
}

void FakeFaults::FailCallNumber(uint64_t number, int error) {
  std::lock_guard lock(world_.mutex);
  world_.plan.FailNumber(number, error);
}

uint64_t FakeFaults::calls() const {
  std::lock_guard lock(world_.mutex);
  return world_.plan.calls();
}

std::string FakeFaults::last_failed_call() const {
  std::lock_guard lock(world_.mutex);
  return world_.plan.last_failed();
}

void FakeFaults::FailSend(absl::string_view device, int nth, ibv_wc_status status,
                          uint32_t vendor_error, bool delivered) {
  std::lock_guard lock(world_.mutex);
  world_.Device(device).send_faults.push_back({nth, status, vendor_error, delivered});
}

void FakeFaults::RecordCalls() {
  std::lock_guard lock(world_.mutex);
  world_.plan.Record();
}

std::vector<std::string> FakeFaults::recorded_calls() const {
  std::lock_guard lock(world_.mutex);
  return world_.plan.recorded();
}

void FakeFaults::FailReceive(absl::string_view device, int nth, ibv_wc_status status) {
  std::lock_guard lock(world_.mutex);
  world_.Device(device).receive_faults.push_back({nth, status});
}

std::vector<uint32_t> FakeFaults::QueuePairs(absl::string_view device) const {
  std::lock_guard lock(world_.mutex);
  const FakeDevice& on = world_.Device(device);
  std::vector<uint32_t> numbers;
  for (const FakeQp* qp : world_.pairs.live()) {
    if (&qp->device() == &on && qp->state == IBV_QPS_RTS) numbers.push_back(qp->qp_num);
  }
  return numbers;
}

void FakeFaults::BreakQueuePair(uint32_t qp_num) {
  std::lock_guard lock(world_.mutex);
  for (FakeQp* qp : world_.pairs.live()) {
    if (qp->qp_num == qp_num) qp->Break();
  }
  world_.cm.Pump();
}

void FakeFaults::CutPath(absl::string_view a, absl::string_view b, Cut cut) {
  std::lock_guard lock(world_.mutex);
  world_.cuts.push_back({&world_.Device(a), &world_.Device(b), cut == Cut::kSilent});
}

void FakeFaults::HealPath(absl::string_view a, absl::string_view b) {
  std::lock_guard lock(world_.mutex);
  const FakeDevice& from = world_.Device(a);
  const FakeDevice& to = world_.Device(b);
  std::erase_if(world_.cuts, [&](const auto& cut) { return cut.Joins(from, to); });
  world_.OnPathsChanged();
}

void FakeFaults::SetPermitted(absl::string_view device, bool permitted) {
  std::lock_guard lock(world_.mutex);
  world_.Device(device).options.permitted = permitted;
}

void FakeFaults::SetMemlock(absl::string_view device, uint64_t bytes) {
  std::lock_guard lock(world_.mutex);
  world_.Device(device).options.memlock = bytes;
}

void FakeFaults::SetPort(absl::string_view device, bool active) {
  std::lock_guard lock(world_.mutex);
  FakeDevice& fake = world_.Device(device);
  if (fake.port_active == active) return;
  fake.port_active = active;
  ibv_async_event event{};
  event.element.port_num = 1;
  event.event_type = active ? IBV_EVENT_PORT_ACTIVE : IBV_EVENT_PORT_ERR;
  Raise(world_, fake, event);
  world_.OnPathsChanged();
}

void FakeFaults::MoveGids(absl::string_view device, uint32_t entries) {
  std::lock_guard lock(world_.mutex);
  world_.Device(device).first_gid += entries;
}

void FakeFaults::KeepReceives(absl::string_view device) {
  std::lock_guard lock(world_.mutex);
  world_.Device(device).keeps_receives = true;
}

void FakeFaults::RaiseEvent(absl::string_view device, ibv_event_type type) {
  std::lock_guard lock(world_.mutex);
  const FakeDevice& fake = world_.Device(device);
  ibv_async_event event{};
  event.event_type = type;
  switch (SubjectOf(type)) {
    case FakeSubject::kQueuePair:
      for (FakeQp* const qp : world_.pairs.live()) {
        event.element.qp = qp;
        if (&qp->device() == &fake) qp->owner().async.Push(event);
      }
      return;
    case FakeSubject::kCompletionQueue:
      for (const auto& queue : world_.completion_queues) {
        event.element.cq = queue.get();
        if (&queue->owner.owner == &fake && !queue->destroyed) queue->owner.async.Push(event);
      }
      return;
    case FakeSubject::kReceiveQueue:
      for (const auto& queue : world_.receive_queues) {
        event.element.srq = queue.get();
        FakeContext& owner = queue->domain.owner;
        if (&owner.owner == &fake && !queue->destroyed) owner.async.Push(event);
      }
      return;
    case FakeSubject::kPort:
      event.element.port_num = 1;
      return Raise(world_, fake, event);
    case FakeSubject::kDevice:
      return Raise(world_, fake, event);
  }
}

void FakeFaults::InjectEvent(absl::string_view device, rdma_cm_event_type type, int status) {
  std::lock_guard lock(world_.mutex);
  world_.cm.Inject(world_.Device(device), type, status);
}

void FakeFaults::RemoveDevice(absl::string_view device, bool flush) {
  std::lock_guard lock(world_.mutex);
  world_.RemoveDevice(world_.Device(device), flush);
}

bool FakeFaults::RemovalPending(absl::string_view device) const {
  std::lock_guard lock(world_.mutex);
  return world_.RemovalPending(world_.Device(device));
}

bool FakeFaults::AddDevice(absl::string_view device) {
  std::lock_guard lock(world_.mutex);
  FakeDevice& fake = world_.Device(device);
  if (world_.RemovalPending(fake)) return false;
  fake.removed = false;
  fake.port_active = fake.options.port_active;
  return true;
}

void FakeFaults::ReplaceContext(absl::string_view device) {
  std::lock_guard lock(world_.mutex);
  FakeDevice& fake = world_.Device(device);
  if (FakeContext* const context = world_.FindCmContext(fake)) context->replaced = true;
  fake.ListAnew();
}

void FakeFaults::RejectNextConnect(int reason) {
  std::lock_guard lock(world_.mutex);
  world_.cm.reject_next = reason;
}

void FakeFaults::LoseNextConnect() {
  std::lock_guard lock(world_.mutex);
  world_.cm.lose_next = true;
}

void FakeFaults::FailNextAddress(int status) {
  std::lock_guard lock(world_.mutex);
  world_.cm.fail_address = status;
}

void FakeFaults::FailNextRoute(int status) {
  std::lock_guard lock(world_.mutex);
  world_.cm.fail_route = status;
}

void FakeFaults::DelayConnectionEvents(uint64_t steps) {
  std::lock_guard lock(world_.mutex);
  world_.cm.schedule.delay = steps;
}

}  // namespace farcall
