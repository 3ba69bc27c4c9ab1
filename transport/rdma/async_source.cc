// SPDX-License-Identifier: Apache-2.0

#include "transport/rdma/async_source.h"

#include <fcntl.h>

#include <cerrno>
#include <utility>

#include "transport/base/errno_status.h"

namespace farcall {
namespace {

// Which member of the union of ibv_async_event is set, by ibv_get_async_event(3).
AsyncSource::News NewsOf(const ibv_async_event& event) {
  AsyncSource::News news;
  news.type = event.event_type;
  switch (event.event_type) {
    case IBV_EVENT_QP_FATAL:
    case IBV_EVENT_QP_REQ_ERR:
    case IBV_EVENT_QP_ACCESS_ERR:
    case IBV_EVENT_COMM_EST:
    case IBV_EVENT_SQ_DRAINED:
    case IBV_EVENT_PATH_MIG:
    case IBV_EVENT_PATH_MIG_ERR:
    case IBV_EVENT_QP_LAST_WQE_REACHED:
      news.queue_pair = event.element.qp->qp_num;
      break;
    case IBV_EVENT_PORT_ACTIVE:
    case IBV_EVENT_PORT_ERR:
    case IBV_EVENT_LID_CHANGE:
    case IBV_EVENT_PKEY_CHANGE:
    case IBV_EVENT_SM_CHANGE:
    case IBV_EVENT_CLIENT_REREGISTER:
    case IBV_EVENT_GID_CHANGE:
      news.port = event.element.port_num;
      break;
    default:
      break;
  }
  return news;
}

}  // namespace

absl::StatusOr<std::unique_ptr<AsyncSource>> AsyncSource::Create(const VerbsApi& api,
                                                                 EventLoop& control,
                                                                 ibv_context* context,
                                                                 OnNews on_news) {
  std::unique_ptr<AsyncSource> source(new AsyncSource(api, control, context, std::move(on_news)));
  const int flags = ::fcntl(context->async_fd, F_GETFL);
  if (flags < 0 || ::fcntl(context->async_fd, F_SETFL, flags | O_NONBLOCK) != 0) {
    return Annotate(ErrnoStatus(errno), "fcntl of a device's events");
  }
  auto watch = control.fds().Add(context->async_fd, EPOLLIN, *source);
  if (!watch.ok()) return watch.status();
  source->watch_ = *watch;
  return source;
}

AsyncSource::~AsyncSource() {
  if (watch_) control_.fds().Remove(*watch_, context_->async_fd);
}

// One at a time: the descriptor stays readable while there are more.
void AsyncSource::OnReady(uint32_t) {
  ibv_async_event event{};
  if (api_.ibv.get_async_event(context_, &event) != 0) {
    if (errno == EAGAIN || errno == EINTR) return;
    // The kernel has taken the device away from under the context.
    control_.fds().Remove(*std::exchange(watch_, std::nullopt), context_->async_fd);
    return on_news_({.type = IBV_EVENT_DEVICE_FATAL});
  }
  const News news = NewsOf(event);
  // Destroying what it is about waits for this, ibv_ack_async_event(3).
  api_.ibv.ack_async_event(&event);
  on_news_(news);
}

}  // namespace farcall
