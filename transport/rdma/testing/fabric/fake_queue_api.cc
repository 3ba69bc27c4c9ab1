// SPDX-License-Identifier: Apache-2.0
//
// ibv_*(3) for queues and their events.

#include <algorithm>

#include "transport/rdma/testing/fabric/device/fake_subject.h"
#include "transport/rdma/testing/fabric/fake_api.h"

namespace farcall {
namespace {

ibv_comp_channel* CreateCompChannel(ibv_context* context) {
  FakeCall call("ibv_create_comp_channel");
  if (call.planned != 0) return call.Null(call.planned);
  if (Fake(context)->dead) return call.Null(EIO);
  return call.world.channels.emplace_back(std::make_unique<FakeCompChannel>(*Fake(context))).get();
}

int DestroyCompChannel(ibv_comp_channel* channel) {
  FakeCall call("ibv_destroy_comp_channel", kGivesBack);
  if (call.planned != 0) return call.planned;
  FakeCompChannel& fake = *static_cast<FakeCompChannel*>(channel);
  if (fake.destroyed) {
    call.world.Violation("ibv_destroy_comp_channel twice");
    return EINVAL;
  }
  if (fake.refcnt > 0) return EBUSY;
  fake.destroyed = true;
  --fake.owner.objects;
  fake.events.Close();
  return 0;
}

ibv_cq* CreateCq(ibv_context* context, int entries, void* user, ibv_comp_channel* channel,
                 int vector) {
  FakeCall call("ibv_create_cq");
  if (call.planned != 0) return call.Null(call.planned);
  FakeContext& fake = *Fake(context);
  if (fake.dead) return call.Null(EIO);
  if (entries < 1 || entries > fake.owner.options.max_cqe || vector < 0 ||
      vector >= fake.num_comp_vectors || (channel != nullptr && channel->context != context)) {
    return call.Null(EINVAL);
  }
  auto queue =
      std::make_unique<FakeCq>(fake, entries, user, static_cast<FakeCompChannel*>(channel));
  return call.world.completion_queues.emplace_back(std::move(queue)).get();
}

int DestroyCq(ibv_cq* cq) {
  FakeCall call("ibv_destroy_cq", kGivesBack);
  if (call.planned != 0) return call.planned;
  FakeCq& fake = *static_cast<FakeCq*>(cq);
  if (fake.destroyed) {
    call.world.Violation("ibv_destroy_cq twice");
    return EINVAL;
  }
  if (fake.queue_pairs > 0) return EBUSY;
  if (fake.events_taken != fake.events_acknowledged) {
    call.world.Violation("ibv_destroy_cq with events that are not acknowledged: it would hang");
  }
  if (fake.events_to != nullptr) {
    fake.events_to->events.RemoveIf([&](FakeCq* event) { return event == &fake; });
    --fake.events_to->refcnt;
  }
  fake.owner.async.RemoveIf([&](const ibv_async_event& event) {
    return SubjectOf(event.event_type) == FakeSubject::kCompletionQueue && event.element.cq == cq;
  });
  fake.Drop();
  fake.destroyed = true;
  --fake.owner.objects;
  return 0;
}

int GetCqEvent(ibv_comp_channel* channel, ibv_cq** cq, void** user) {
  FakeCall call("ibv_get_cq_event");
  if (call.planned != 0) return call.MinusOne(call.planned);
  FakeCompChannel& fake = *static_cast<FakeCompChannel*>(channel);
  if (fake.destroyed) {
    call.world.Violation("ibv_get_cq_event of a channel that is destroyed");
    return call.MinusOne(EBADF);
  }
  if (!fake.events.Wait(call.lock)) return -1;
  FakeCq& queue = *fake.events.Pop();
  ++queue.events_taken;
  *cq = &queue;
  *user = queue.cq_context;
  return 0;
}

void AckCqEvents(ibv_cq* cq, unsigned int count) {
  FakeCall call("ibv_ack_cq_events", kGivesBack);
  FakeCq& fake = *static_cast<FakeCq*>(cq);
  fake.events_acknowledged += count;
  if (fake.destroyed || fake.events_acknowledged > fake.events_taken) {
    call.world.Violation("ibv_ack_cq_events of more than was taken");
  }
}

ibv_srq* CreateSrq(ibv_pd* pd, ibv_srq_init_attr* attr) {
  FakeCall call("ibv_create_srq");
  if (call.planned != 0) return call.Null(call.planned);
  FakePd& domain = *static_cast<FakePd*>(pd);
  if (domain.owner.dead) return call.Null(EIO);
  const FakeDeviceOptions& device = domain.owner.owner.options;
  if (device.max_srq == 0) return call.Null(EOPNOTSUPP);
  if (attr->attr.max_wr == 0 || attr->attr.max_wr > static_cast<uint32_t>(device.max_srq_wr) ||
      attr->attr.max_sge > static_cast<uint32_t>(device.max_srq_sge)) {
    return call.Null(EINVAL);
  }
  const auto alive = std::count_if(
      call.world.receive_queues.begin(), call.world.receive_queues.end(), [&](const auto& queue) {
        return !queue->destroyed && &queue->domain.owner.owner == &domain.owner.owner;
      });
  if (alive >= device.max_srq) return call.Null(ENOMEM);
  return call.world.receive_queues.emplace_back(std::make_unique<FakeSrq>(domain, *attr)).get();
}

int DestroySrq(ibv_srq* srq) {
  FakeCall call("ibv_destroy_srq", kGivesBack);
  if (call.planned != 0) return call.planned;
  FakeSrq& fake = *static_cast<FakeSrq*>(srq);
  if (fake.destroyed) {
    call.world.Violation("ibv_destroy_srq twice");
    return EINVAL;
  }
  if (fake.queue_pairs > 0) return EBUSY;
  if (fake.events_taken != fake.events_acknowledged) {
    call.world.Violation("ibv_destroy_srq with an event that is not acknowledged: it would hang");
  }
  fake.domain.owner.async.RemoveIf([&](const ibv_async_event& event) {
    return SubjectOf(event.event_type) == FakeSubject::kReceiveQueue && event.element.srq == srq;
  });
  fake.receives.Clear();
  fake.destroyed = true;
  --fake.domain.users;
  return 0;
}

ibv_qp* CreateQp(ibv_pd* pd, ibv_qp_init_attr* init) {
  FakeCall call("ibv_create_qp");
  if (call.planned != 0) return call.Null(call.planned);
  if (init->qp_type != IBV_QPT_RC || init->send_cq == nullptr || init->recv_cq == nullptr) {
    return call.Null(EINVAL);
  }
  FakeQp* made = nullptr;
  const int error = call.world.pairs.Make(*static_cast<FakePd*>(pd), *init, nullptr, made);
  return error == 0 ? made : call.Null(error);
}

int DestroyQp(ibv_qp* qp) {
  FakeCall call("ibv_destroy_qp", kGivesBack);
  if (call.planned != 0) return call.planned;
  FakeQp& fake = *static_cast<FakeQp*>(qp);
  if (fake.destroyed() || fake.id() != nullptr) {
    call.world.Violation("ibv_destroy_qp twice, or of a queue pair of rdma_create_qp");
    return EINVAL;
  }
  call.world.pairs.End(fake);
  call.world.cm.Pump();
  return 0;
}

int ModifyQp(ibv_qp* qp, ibv_qp_attr* attr, int mask) {
  FakeCall call("ibv_modify_qp");
  if (call.planned != 0) return call.planned;
  FakeQp& fake = *static_cast<FakeQp*>(qp);
  if (fake.destroyed()) {
    call.world.Violation("ibv_modify_qp of a queue pair that is destroyed");
    return EINVAL;
  }
  if (fake.owner().dead) return EIO;
  const int error = fake.Modify(*attr, mask);
  call.world.cm.Pump();
  return error;
}

// Counts an event for what it is about, taken or acknowledged.
template <typename Count>
void ForElement(const ibv_async_event& event, Count count) {
  switch (SubjectOf(event.event_type)) {
    case FakeSubject::kQueuePair:
      return count(*static_cast<FakeQp*>(event.element.qp));
    case FakeSubject::kCompletionQueue:
      return count(*static_cast<FakeCq*>(event.element.cq));
    case FakeSubject::kReceiveQueue:
      return count(*static_cast<FakeSrq*>(event.element.srq));
    case FakeSubject::kPort:
    case FakeSubject::kDevice:
      return;
  }
}

int GetAsyncEvent(ibv_context* context, ibv_async_event* event) {
  FakeCall call("ibv_get_async_event");
  if (call.planned != 0) return call.MinusOne(call.planned);
  FakeContext& fake = *Fake(context);
  if (fake.closed) {
    call.world.Violation("ibv_get_async_event of a device that is closed");
    return call.MinusOne(EBADF);
  }
  if (!fake.async.Wait(call.lock)) return -1;
  *event = fake.async.Pop();
  ForElement(*event, [](auto& element) { ++element.events_taken; });
  return 0;
}

void AckAsyncEvent(ibv_async_event* event) {
  FakeCall call("ibv_ack_async_event", kGivesBack);
  ForElement(*event, [&](auto& element) {
    if (++element.events_acknowledged > element.events_taken) {
      call.world.Violation("ibv_ack_async_event of more than was taken");
    }
  });
}

}  // namespace

void FillQueues(VerbsApi::Ibv& ibv) {
  ibv.create_comp_channel = CreateCompChannel;
  ibv.destroy_comp_channel = DestroyCompChannel;
  ibv.create_cq = CreateCq;
  ibv.destroy_cq = DestroyCq;
  ibv.get_cq_event = GetCqEvent;
  ibv.ack_cq_events = AckCqEvents;
  ibv.create_srq = CreateSrq;
  ibv.destroy_srq = DestroySrq;
  ibv.create_qp = CreateQp;
  ibv.destroy_qp = DestroyQp;
  ibv.modify_qp = ModifyQp;
  ibv.get_async_event = GetAsyncEvent;
  ibv.ack_async_event = AckAsyncEvent;
  ibv.wc_status_str = FakeWcStatusStr;
  ibv.event_type_str = FakeEventTypeStr;
}

VerbsApi::Ibv FakeIbv() {
  VerbsApi::Ibv ibv{};
  FillDevices(ibv);
  FillQueues(ibv);
  return ibv;
}

}  // namespace farcall
