// SPDX-License-Identifier: Apache-2.0
//
// Ids: their addresses, options, queue pairs and end.

#include "transport/rdma/testing/fabric/fake_cm.h"

#include <errno.h>
#include <string.h>

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "transport/rdma/testing/fabric/fake_world.h"
#include "transport/sockaddr.h"

namespace farcall {
namespace {

template <typename Value>
int ReadOption(const void* from, size_t bytes, int& to) {
  if (bytes != sizeof(Value)) return EINVAL;
  Value value;
  memcpy(&value, from, sizeof(value));
  to = static_cast<int>(value);
  return 0;
}

}  // namespace

FakeCmChannel& FakeCm::AddChannel() {
  return *channels_.emplace_back(std::make_unique<FakeCmChannel>());
}

FakeId& FakeCm::AddId(FakeCmChannel& channel, void* user) {
  return *ids_.emplace_back(std::make_unique<FakeId>(channel, user));
}

int FakeCm::SetOption(FakeId& id, int level, int option, const void* value, size_t bytes) {
  if (level != RDMA_OPTION_ID) return ENOSYS;
  switch (option) {
    case RDMA_OPTION_ID_TOS:
      return ReadOption<uint8_t>(value, bytes, id.tos);
    case RDMA_OPTION_ID_ACK_TIMEOUT:
      return ReadOption<uint8_t>(value, bytes, id.ack_timeout);
    case RDMA_OPTION_ID_REUSEADDR:
      return ReadOption<int>(value, bytes, id.reuse_address);
    case RDMA_OPTION_ID_AFONLY:
      return ReadOption<int>(value, bytes, id.af_only);
    default:
      return ENOSYS;
  }
}

int FakeCm::CreateQp(FakeId& id, ibv_pd* pd, ibv_qp_init_attr& init) {
  // librdmacm would make what is missing; the tests do not want that.
  if (id.verbs == nullptr || pd == nullptr || init.send_cq == nullptr || init.recv_cq == nullptr) {
    return EINVAL;
  }
  if (id.qp != nullptr || pd->context != id.verbs || init.qp_type != IBV_QPT_RC) return EINVAL;
  // With iWARP the kernel does not look.
  if (id.state == FakeId::State::kEnded && !id.device->iwarp()) return EINVAL;
  if (id.removed) return EIO;
  FakeQp* made = nullptr;
  const int error = MakeQp(*static_cast<FakePd*>(pd), init, &id, made);
  if (error == 0) id.pd = pd;
  return error;
}

int FakeCm::MakeQp(FakePd& domain, ibv_qp_init_attr& init, FakeId* id, FakeQp*& made) {
  if (domain.owner.dead) return EIO;
  if (domain.destroyed || static_cast<FakeCq*>(init.send_cq)->destroyed ||
      static_cast<FakeCq*>(init.recv_cq)->destroyed ||
      (init.srq != nullptr && static_cast<FakeSrq*>(init.srq)->destroyed)) {
    world_.Violation("a queue pair is created with something that is destroyed");
    return EINVAL;
  }
  if (init.send_cq->context != &domain.owner || init.recv_cq->context != &domain.owner) {
    return EINVAL;
  }
  const FakeDeviceOptions& device = domain.owner.owner.options;
  const ibv_qp_cap& cap = init.cap;
  const auto most = static_cast<uint32_t>(std::min(device.max_qp_wr, device.real_max_qp_wr));
  const uint32_t most_ranges = static_cast<uint32_t>(device.max_sge);
  if (cap.max_send_wr > most || cap.max_send_sge > most_ranges ||
      cap.max_inline_data > static_cast<uint32_t>(device.max_inline_data)) {
    return EINVAL;
  }
  if (init.srq == nullptr && (cap.max_recv_wr > most || cap.max_recv_sge > most_ranges)) {
    return EINVAL;
  }
  const auto on_device =
      std::count_if(world_.live_queue_pairs.begin(), world_.live_queue_pairs.end(),
                    [&](const FakeQp* qp) { return &qp->device() == &domain.owner.owner; });
  if (on_device >= device.max_qp) return ENOMEM;
  const uint32_t number = next_qp_num_;
  // Not one after the other: what takes qp_num for an index fails.
  next_qp_num_ += 0x11;
  auto qp = std::make_unique<FakeQp>(id, domain, init, number);
  world_.live_queue_pairs.push_back(qp.get());
  made = qp.get();
  world_.queue_pairs.push_back(std::move(qp));
  return 0;
}

void FakeCm::DestroyQp(FakeId& id) {
  EndQp(*id.queue_pair());
  id.qp = nullptr;
}

void FakeCm::EndQp(FakeQp& qp) {
  if (qp.events_taken != qp.events_acknowledged) {
    world_.Violation(
        "a queue pair is destroyed with an asynchronous event that is not acknowledged");
  }
  qp.Destroy();
  std::erase(world_.live_queue_pairs, &qp);
}

void FakeCm::Destroy(FakeId& id) {
  if (id.qp != nullptr) {
    world_.Violation("rdma_destroy_id with a queue pair");
    DestroyQp(id);
  }
  if (id.unacknowledged > 0) {
    world_.Violation("rdma_destroy_id with an event that is not acknowledged: it would hang");
  }
  id.events.events.RemoveIf([&](const std::unique_ptr<FakeCmEvent>& event) {
    if (event->counted != &id) return false;
    if (event->event == RDMA_CM_EVENT_CONNECT_REQUEST) {
      Abandon(*static_cast<FakeId*>(event->id));
    }
    return true;
  });
  Leave(id);
  id.destroyed = true;
  --id.events.ids;
}

void FakeCm::Abandon(FakeId& passive) {
  Leave(passive);
  passive.destroyed = true;
  --passive.events.ids;
}

bool FakeCm::InUse(const FakeContext& context) const {
  return std::any_of(ids_.begin(), ids_.end(),
                     [&](const auto& id) { return !id->destroyed && id->verbs == &context; });
}

void FakeCm::AddLeaks(std::vector<std::string>& leaks) const {
  for (const auto& id : ids_) {
    if (id->destroyed || !id->handed_out) continue;
    leaks.push_back(
        absl::StrCat("rdma_cm_id ", id->source().ToString(), " to ", id->destination().ToString()));
  }
  for (const auto& channel : channels_) {
    if (!channel->destroyed) leaks.push_back("rdma_event_channel");
  }
  for (const auto& event : taken_) {
    leaks.push_back(absl::StrCat("rdma_cm_event of type ", event->event, " not acknowledged"));
  }
}

FakeId::FakeId(FakeCmChannel& fake_channel, void* user) : rdma_cm_id{}, events(fake_channel) {
  channel = &fake_channel;
  context = user;
  ps = RDMA_PS_TCP;
  qp_type = IBV_QPT_RC;
  ++fake_channel.ids;
}

FakeQp* FakeId::queue_pair() const { return static_cast<FakeQp*>(qp); }

Address FakeId::source() const {
  return FromSocketAddress({.storage = route.addr.src_storage, .length = sizeof(sockaddr_storage)});
}

Address FakeId::destination() const {
  return FromSocketAddress({.storage = route.addr.dst_storage, .length = sizeof(sockaddr_storage)});
}

}  // namespace farcall
