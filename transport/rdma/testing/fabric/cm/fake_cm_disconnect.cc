// SPDX-License-Identifier: Apache-2.0
//
// The end of a connection.

#include <errno.h>

#include <utility>

#include "transport/rdma/testing/fabric/cm/fake_cm.h"
#include "transport/rdma/testing/fabric/device/fake_host.h"
#include "transport/rdma/testing/fabric/queues/fake_queue_pair.h"

namespace farcall {

int FakeCm::Disconnect(FakeId& id) {
  if (id.joined == nullptr && id.state != FakeId::State::kEnded) return EINVAL;
  // With iWARP the peer hears of it through the stream.
  if (FakeQp* const qp = id.queue_pair(); qp != nullptr) qp->Break();
  if (id.removed) return 0;
  if (id.state == FakeId::State::kLeft) {
    Answer(id);
    TimeWait(id);
  }
  if (id.state != FakeId::State::kConnected) return 0;
  id.state = FakeId::State::kDisconnecting;
  FakeId& peer = *id.peer;
  const auto lost = [this, &id] { EndDisconnect(id, -ETIMEDOUT); };
  Carry(
      id, peer, [this, &peer] { OnDisconnect(peer); }, lost);
  return 0;
}

void FakeCm::Answer(FakeId& id) {
  id.state = FakeId::State::kEnded;
  FakeId& asker = *id.peer;
  Carry(
      id, asker, [this, &asker] { EndDisconnect(asker, 0); },
      [this, &asker] { EndDisconnect(asker, -ETIMEDOUT); });
}

void FakeCm::OnDisconnect(FakeId& id) {
  const FakeId::State state = id.state;
  if (state == FakeId::State::kDisconnecting) return EndDisconnect(id, 0);  // both at once
  if (id.destroyed || state == FakeId::State::kEnded) {
    if (!id.device->iwarp()) Answer(id);
    return;
  }
  const bool connected = state == FakeId::State::kConnected || state == FakeId::State::kAccepted;
  if (id.removed || !connected) return;
  // With InfiniBand the asker waits until this side has disconnected, too.
  id.state = id.device->iwarp() ? FakeId::State::kEnded : FakeId::State::kLeft;
  Report(id, RDMA_CM_EVENT_DISCONNECTED, 0);
}

void FakeCm::EndDisconnect(FakeId& id, int status) {
  if (id.destroyed || id.removed || id.state != FakeId::State::kDisconnecting) return;
  id.state = FakeId::State::kEnded;
  Report(id, RDMA_CM_EVENT_DISCONNECTED, status);
  if (!id.device->iwarp()) TimeWait(id);
}

void FakeCm::TimeWait(FakeId& id) {
  schedule.Add(id, 0, [this, &id] {
    if (!id.destroyed && !id.removed) Report(id, RDMA_CM_EVENT_TIMEWAIT_EXIT, 0);
  });
}

void FakeCm::Leave(FakeId& id) {
  const FakeId::State state = std::exchange(id.state, FakeId::State::kEnded);
  if (id.peer == nullptr) return;
  FakeId& peer = *id.peer;
  const auto tell = [&](std::function<void()> run) { schedule.Add(peer, 0, std::move(run)); };
  switch (state) {
    case FakeId::State::kConnecting:
      return tell([this, &peer] { OnRejected(peer, kTimeout, ""); });
    case FakeId::State::kAnswered:
    case FakeId::State::kRequested:
    case FakeId::State::kAccepted:
      return tell([this, &peer] { OnRejected(peer, kByConsumer, ""); });
    case FakeId::State::kConnected:
    case FakeId::State::kDisconnecting:
      return tell([this, &peer] { OnDisconnect(peer); });
    case FakeId::State::kLeft:
      return Answer(id);
    default:
      return;
  }
}

void FakeCm::OnStreamBroken(FakeQp& qp, FakeQp* peer) {
  for (FakeQp* side : {&qp, peer}) {
    if (side == nullptr) continue;
    if (side != &qp && host_.Lost(qp.device(), side->device())) continue;
    FakeId& id = *static_cast<FakeId*>(side->id());
    if (id.joined != side) continue;
    schedule.Add(id, 0, [this, &id] { OnDisconnect(id); });
    if (!side->destroyed()) side->Break();
  }
}

}  // namespace farcall
