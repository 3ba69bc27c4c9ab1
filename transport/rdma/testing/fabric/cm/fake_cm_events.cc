// SPDX-License-Identifier: Apache-2.0

#include <errno.h>
#include <string.h>

#include <algorithm>
#include <utility>

#include "transport/rdma/testing/fabric/cm/fake_cm.h"
#include "transport/rdma/testing/fabric/device/fake_host.h"
#include "transport/rdma/testing/fabric/queues/fake_queue_pair.h"

namespace farcall {

FakeCmEvent& FakeCm::Report(FakeId& id, rdma_cm_event_type type, int status) {
  auto event = std::make_unique<FakeCmEvent>();
  event->id = &id;
  event->event = type;
  event->status = status;
  event->counted = &id;
  FakeCmEvent& reported = *event;
  id.events.events.Push(std::move(event));
  return reported;
}

void FakeCm::Attach(FakeCmEvent& event, const std::string& data, size_t padded) {
  const size_t bytes = std::max(data.size(), padded);
  event.param.conn.private_data_len = static_cast<uint8_t>(bytes);
  event.param.conn.private_data = bytes == 0 ? nullptr : event.data.data();
  memcpy(event.data.data(), data.data(), data.size());
}

FakeCmEvent* FakeCm::Take(FakeCmChannel& channel) {
  FakeCmEvent& event = *taken_.emplace_back(channel.events.Pop());
  FakeId& id = *static_cast<FakeId*>(event.id);
  ++event.counted->unacknowledged;
  if (event.injected && event.event != RDMA_CM_EVENT_REJECTED) return &event;
  switch (event.event) {
    case RDMA_CM_EVENT_ADDR_RESOLVED:
      TakeAddress(id);
      if (id.verbs == nullptr) {
        event.event = RDMA_CM_EVENT_ADDR_ERROR;
        event.status = -ENODEV;
      }
      break;
    case RDMA_CM_EVENT_CONNECT_REQUEST:
      --event.counted->queued;
      id.handed_out = true;
      id.verbs = &host_.CmContext(*id.device);
      id.port_num = 1;
      break;
    case RDMA_CM_EVENT_CONNECT_RESPONSE:
      Establish(id, event);
      break;
    case RDMA_CM_EVENT_REJECTED:
      // So librdmacm does: receives that were posted ahead flush.
      if (id.qp != nullptr) id.queue_pair()->Break();
      break;
    default:
      break;
  }
  Pump();
  return &event;
}

bool FakeCm::Acknowledge(const rdma_cm_event* event) {
  for (auto at = taken_.begin(); at != taken_.end(); ++at) {
    if (at->get() != event) continue;
    --(*at)->counted->unacknowledged;
    taken_.erase(at);
    return true;
  }
  return false;
}

void FakeCm::Inject(const FakeDevice& device, rdma_cm_event_type type, int status) {
  // Reporting makes no ids.
  for (const auto& id : ids_) {
    if (id->device != &device || id->destroyed || id->removed || !id->handed_out) continue;
    Report(*id, type, status).injected = true;
  }
}

void FakeCm::OnDeviceRemoved(FakeDevice& device) {
  for (size_t i = 0; i < ids_.size(); ++i) {
    FakeId& id = *ids_[i];
    if (id.device != &device || id.destroyed || id.removed) continue;
    if (!id.handed_out) {
      // The kernel drops the request with its id.
      id.events.events.RemoveIf([&](const std::unique_ptr<FakeCmEvent>& event) {
        if (event->id != &id) return false;
        --event->counted->queued;
        return true;
      });
      Abandon(id);
      continue;
    }
    Leave(id);
    id.removed = true;
    schedule.Add(id, 0, [this, &id] {
      if (!id.destroyed) Report(id, RDMA_CM_EVENT_DEVICE_REMOVAL, 0);
    });
  }
}

void FakeCm::PumpAll() {
  if (host_.options.mode != FakeMode::kImmediate) return;
  for (auto ready = schedule.Ready(); !ready.empty(); ready = schedule.Ready()) {
    schedule.Run(ready.front());
  }
}

}  // namespace farcall
