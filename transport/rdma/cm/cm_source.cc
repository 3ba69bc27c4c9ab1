// SPDX-License-Identifier: Apache-2.0

#include "transport/rdma/cm/cm_source.h"

#include "transport/base/check.h"

namespace farcall {
namespace {

bool CarriesPrivateData(rdma_cm_event_type type) {
  return type == RDMA_CM_EVENT_CONNECT_REQUEST || type == RDMA_CM_EVENT_ESTABLISHED ||
         type == RDMA_CM_EVENT_CONNECT_RESPONSE || type == RDMA_CM_EVENT_REJECTED;
}

CmEventInfo CopyOf(const rdma_cm_event& event) {
  CmEventInfo copy;
  copy.type = event.event;
  copy.status = event.status;
  copy.id = event.id;
  const rdma_conn_param& conn = event.param.conn;
  if (CarriesPrivateData(event.event) && conn.private_data != nullptr) {
    copy.private_data.assign(static_cast<const char*>(conn.private_data), conn.private_data_len);
  }
  return copy;
}

}  // namespace

absl::StatusOr<std::unique_ptr<CmSource>> CmSource::Create(const VerbsApi& api,
                                                           EventLoop& control) {
  auto channel = CreateEventChannel(api);
  if (!channel.ok()) return channel.status();
  std::unique_ptr<CmSource> source(new CmSource(api, control, *std::move(channel)));
  auto watch = control.fds().Add(source->channel()->fd, EPOLLIN, *source);
  if (!watch.ok()) return watch.status();
  source->watch_ = *watch;
  source->watched_ = true;
  return source;
}

CmSource::~CmSource() {
  if (watched_) control_.fds().Remove(watch_, channel_->fd);
}

void CmSource::OnReady(uint32_t) {
  for (int i = 0; i < kPerTurn; ++i) {
    auto event = NextCmEvent(api_, channel_.get());
    // An error is the channel's end with its last device, or short of memory: nothing is
    // lost, since steps of setting up have time limits.
    if (!event.ok() || *event == nullptr) return;
    const CmEventInfo copy = CopyOf(**event);
    event->reset();
    Check(copy.id != nullptr && copy.id->context != nullptr, "an id has a handler");
    static_cast<CmHandler*>(copy.id->context)->OnCmEvent(copy);
  }
}

}  // namespace farcall
