// SPDX-License-Identifier: Apache-2.0
//
// Ids: their addresses, options, queue pairs and end.

#include "transport/rdma/testing/fabric/cm/fake_cm.h"

#include <errno.h>
#include <string.h>

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "transport/rdma/testing/fabric/device/fake_host.h"
#include "transport/rdma/testing/fabric/queues/fake_qp_table.h"
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

FakeCm::FakeCm(FakeHost& host, FakeQpTable& pairs) : schedule(host), host_(host), pairs_(pairs) {
  pairs.on_stream_broken = [this](FakeQp& qp, FakeQp* peer) { OnStreamBroken(qp, peer); };
}

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
  const int error = pairs_.Make(*static_cast<FakePd*>(pd), init, &id, made);
  if (error == 0) id.pd = pd;
  return error;
}

void FakeCm::DestroyQp(FakeId& id) {
  pairs_.End(*id.queue_pair());
  id.qp = nullptr;
}

void FakeCm::Destroy(FakeId& id) {
  if (id.qp != nullptr) {
    host_.Violation("rdma_destroy_id with a queue pair");
    DestroyQp(id);
  }
  if (id.unacknowledged > 0) {
    host_.Violation("rdma_destroy_id with an event that is not acknowledged: it would hang");
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
