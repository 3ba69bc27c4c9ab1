// SPDX-License-Identifier: Apache-2.0
//
// From the request to the connection.

#include <errno.h>

#include <algorithm>
#include <utility>

#include "transport/rdma/testing/fabric/cm/fake_cm.h"
#include "transport/rdma/testing/fabric/device/fake_host.h"
#include "transport/rdma/testing/fabric/queues/fake_queue_pair.h"

namespace farcall {
namespace {

// What ib_cm(7)'s messages have room for; the receiver sees all of it, zero-padded.
constexpr size_t kRequestData = 56;
constexpr size_t kReplyData = 196;
constexpr size_t kRejectData = 148;

// What the kernel's RoCE paths give where no option was set: 4.096 us << 19.
constexpr uint8_t kDefaultAckTimeout = 19;

uint8_t AckTimeout(const FakeId& id) {
  return id.ack_timeout < 0 ? kDefaultAckTimeout : static_cast<uint8_t>(id.ack_timeout);
}

std::string PrivateData(const rdma_conn_param& param) {
  return std::string(static_cast<const char*>(param.private_data),
                     param.private_data == nullptr ? 0 : param.private_data_len);
}

bool TooLong(const FakeId& id, size_t bytes, size_t limit) {
  return !id.device->iwarp() && bytes > limit;
}

}  // namespace

void FakeCm::Carry(FakeId& from, FakeId& to, std::function<void()> arrive,
                   std::function<void()> lost) {
  schedule.Add(to, 0, [this, &from, &to, arrive = std::move(arrive), lost = std::move(lost)] {
    if (host_.Lost(*from.device, *to.device)) {
      if (lost) schedule.Add(from, host_.options.connect_steps, lost);
    } else {
      arrive();
    }
  });
}

std::function<void()> FakeCm::Unreachable(FakeId& id) {
  return [this, &id] {
    const bool waits =
        id.state == FakeId::State::kConnecting || id.state == FakeId::State::kAccepted;
    if (id.destroyed || id.removed || !waits) return;
    id.state = FakeId::State::kEnded;
    Report(id, RDMA_CM_EVENT_UNREACHABLE, -ETIMEDOUT);
  };
}

int FakeCm::Connect(FakeId& id, const rdma_conn_param& param) {
  if (id.removed) return ENODEV;
  if (id.state != FakeId::State::kRouteResolved) return EINVAL;
  if (TooLong(id, param.private_data_len, kRequestData)) return EINVAL;
  if (id.qp == nullptr) {
    host_.Violation("rdma_connect without rdma_create_qp");
    return EINVAL;
  }
  // siw asks for its TCP connection at once.
  if (id.device->iwarp() && Refused(id)) return ECONNREFUSED;
  id.retry_count = param.retry_count;
  id.rnr_retry_count = param.rnr_retry_count;
  const ibv_device_attr caps = id.device->Attributes();
  if (param.responder_resources > caps.max_qp_rd_atom ||
      param.initiator_depth > caps.max_qp_init_rd_atom) {
    return EINVAL;
  }
  id.queue_pair()->SetReads(param.initiator_depth, param.responder_resources);
  id.joined = id.queue_pair();
  id.state = FakeId::State::kConnecting;
  schedule.Add(id, 0,
               [this, &id, param, data = PrivateData(param)] { OnRequest(id, param, data); });
  return 0;
}

bool FakeCm::Refused(const FakeId& active) const {
  return Listener(active) == nullptr && reject_next == 0 && !lose_next &&
         !host_.Lost(*active.device, *DeviceAt(active.destination()));
}

void FakeCm::OnRequest(FakeId& active, const rdma_conn_param& param, const std::string& data) {
  if (active.destroyed || active.removed || active.state != FakeId::State::kConnecting) return;
  FakeDevice* const target = DeviceAt(active.destination());
  if (std::exchange(lose_next, false) || host_.Lost(*active.device, *target) ||
      active.device->options.link != target->options.link) {
    return schedule.Add(active, host_.options.connect_steps, Unreachable(active));
  }
  if (const int reason = std::exchange(reject_next, 0); reason != 0) {
    return OnRejected(active, reason, "");
  }
  FakeId* const listener = Listener(active);
  if (listener == nullptr) return OnRejected(active, kInvalidService, "");
  if (listener->queued >= listener->backlog) return OnRejected(active, kByConsumer, "");
  ++listener->queued;
  FakeId& passive = AddId(listener->events, listener->context);
  passive.state = FakeId::State::kRequested;
  passive.handed_out = false;
  passive.from_request = true;
  passive.device = target;
  passive.peer = &active;
  active.peer = &passive;
  SetAddresses(passive, active);
  FakeCmEvent& event = Report(*listener, RDMA_CM_EVENT_CONNECT_REQUEST, 0);
  event.listen_id = listener;
  event.id = &passive;
  event.param.conn = param;
  // Called from the other side.
  std::swap(event.param.conn.responder_resources, event.param.conn.initiator_depth);
  event.param.conn.qp_num = active.joined->qp_num;
  if (target->iwarp()) event.param.conn.retry_count = event.param.conn.rnr_retry_count = 0;
  Attach(event, data, target->iwarp() ? 0 : kRequestData);
}

int FakeCm::Accept(FakeId& id, const rdma_conn_param& param) {
  if (id.removed) return ENODEV;
  if (id.state == FakeId::State::kEnded && id.device->iwarp()) return ECONNRESET;
  if (id.state != FakeId::State::kRequested) return EINVAL;
  if (TooLong(id, param.private_data_len, kReplyData)) return EINVAL;
  if (id.qp == nullptr) {
    host_.Violation("rdma_accept without rdma_create_qp");
    return EINVAL;
  }
  FakeId& active = *id.peer;
  FakeQp& qp = *id.queue_pair();
  if (qp.state != IBV_QPS_INIT) return EINVAL;
  id.rnr_retry_count = param.rnr_retry_count;
  const ibv_device_attr caps = id.device->Attributes();
  if (param.responder_resources > caps.max_qp_rd_atom ||
      param.initiator_depth > caps.max_qp_init_rd_atom) {
    return EINVAL;
  }
  // One is what ends ask for that do not read.
  if (param.responder_resources > std::max<uint8_t>(1, active.joined->begins()) ||
      param.initiator_depth > std::max<uint8_t>(1, active.joined->answers())) {
    host_.Violation("rdma_accept asks for more RDMA READs than rdma_connect offered");
  }
  qp.SetReads(param.initiator_depth, param.responder_resources);
  id.joined = &qp;
  // Each side retries as the other asked, and as often as the request said.
  qp.Connect(*active.joined, /*passive=*/true, active.retry_count, active.rnr_retry_count,
             AckTimeout(id));
  id.state = FakeId::State::kAccepted;
  Carry(
      id, active,
      [this, &active, param, data = PrivateData(param)] { OnReply(active, param, data); },
      Unreachable(id));
  return 0;
}

void FakeCm::OnReply(FakeId& active, const rdma_conn_param& param, const std::string& data) {
  if (active.destroyed || active.removed || active.state != FakeId::State::kConnecting) return;
  // rdma_cm takes what the answer says, from the other side.
  active.joined->SetReads(param.responder_resources, param.initiator_depth);
  active.state = FakeId::State::kAnswered;
  const bool iwarp = active.device->iwarp();
  FakeCmEvent& event = Report(active, RDMA_CM_EVENT_CONNECT_RESPONSE, 0);
  Attach(event, data, iwarp ? 0 : kReplyData);
  // With iWARP the kernel makes the queue pair ready, with InfiniBand librdmacm does when
  // the event is read.
  if (iwarp) Establish(active, event);
}

void FakeCm::Establish(FakeId& active, FakeCmEvent& event) {
  FakeId& passive = *active.peer;
  FakeQp* const qp = active.queue_pair();
  const bool gone = passive.destroyed || passive.state != FakeId::State::kAccepted;
  if (host_.plan.EnterUncounted("rdma_establish") != 0 || active.removed || gone ||
      active.state != FakeId::State::kAnswered || qp == nullptr || qp->state != IBV_QPS_INIT) {
    event.event = RDMA_CM_EVENT_CONNECT_ERROR;
    event.status = -1;
    active.connect_error = true;
    if (qp != nullptr) qp->Break();
    Leave(active);
    return;
  }
  event.event = RDMA_CM_EVENT_ESTABLISHED;
  qp->Connect(*passive.joined, /*passive=*/false, active.retry_count, passive.rnr_retry_count,
              AckTimeout(active));
  active.state = FakeId::State::kConnected;
  Carry(
      active, passive,
      [this, &passive] {
        if (passive.destroyed || passive.removed || passive.state != FakeId::State::kAccepted) {
          return;
        }
        passive.state = FakeId::State::kConnected;
        Report(passive, RDMA_CM_EVENT_ESTABLISHED, 0);
      },
      Unreachable(passive));
}

int FakeCm::Reject(FakeId& id, const void* data, uint8_t bytes) {
  if (id.removed) return ENODEV;
  if (id.state != FakeId::State::kRequested) return EINVAL;
  if (TooLong(id, bytes, kRejectData)) return EINVAL;
  id.state = FakeId::State::kEnded;
  FakeId& active = *id.peer;
  std::string copy(static_cast<const char*>(data), data == nullptr ? 0 : bytes);
  Carry(
      id, active,
      [this, &active, copy = std::move(copy)] { OnRejected(active, kByConsumer, copy); },
      Unreachable(active));
  return 0;
}

void FakeCm::OnRejected(FakeId& id, int reason, const std::string& data) {
  const FakeId::State state = id.state;
  // There is no event for a request that is taken back: accepting it fails.
  if (state == FakeId::State::kRequested) id.state = FakeId::State::kEnded;
  const bool waits = state == FakeId::State::kConnecting || state == FakeId::State::kAnswered ||
                     state == FakeId::State::kAccepted;
  if (id.destroyed || id.removed || id.connect_error || !waits) return;
  id.state = FakeId::State::kEnded;
  const bool iwarp = id.device->iwarp();
  FakeCmEvent& event = Report(id, RDMA_CM_EVENT_REJECTED, iwarp ? -ECONNRESET : reason);
  Attach(event, data, iwarp ? 0 : kRejectData);
}

}  // namespace farcall
