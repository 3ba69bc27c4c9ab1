// SPDX-License-Identifier: Apache-2.0

#include "transport/rdma/device/async_source.h"

#include <fcntl.h>

#include <cerrno>
#include <mutex>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "transport/base/errno_status.h"

namespace farcall {

// Those who listen to each context. One for the process, as librdmacm's contexts are, and never
// destroyed, since a Runtime may end after static objects. Any thread.
class AsyncSource::Subscribers {
 public:
  static Subscribers& All() {
    static Subscribers* const all = new Subscribers;
    return *all;
  }

  void Add(const ibv_context* context, std::shared_ptr<Subscriber> subscriber) {
    const std::lock_guard<std::mutex> lock(mutex_);
    subscribers_[context].push_back(std::move(subscriber));
  }
  // Then nothing is posted to its loop any more.
  void Remove(const ibv_context* context, const std::shared_ptr<Subscriber>& subscriber) {
    const std::lock_guard<std::mutex> lock(mutex_);
    std::erase(subscribers_[context], subscriber);
    if (subscribers_[context].empty()) subscribers_.erase(context);
  }
  void NotifyOthers(const ibv_context* context, const std::shared_ptr<Subscriber>& but,
                    const Event& async_event) {
    const std::lock_guard<std::mutex> lock(mutex_);
    for (const auto& subscriber : subscribers_[context]) {
      if (subscriber == but) continue;
      subscriber->control.Post([subscriber, async_event] {
        if (subscriber->source != nullptr) subscriber->source->on_event_(async_event);
      });
    }
  }

 private:
  std::mutex mutex_;
  // Guarded by mutex_; Subscriber::source with the loop held that it names.
  absl::flat_hash_map<const ibv_context*, std::vector<std::shared_ptr<Subscriber>>> subscribers_;
};

namespace {

// Which member of the union of ibv_async_event is set, by ibv_get_async_event(3).
AsyncSource::Event EventOf(const ibv_async_event& event) {
  AsyncSource::Event async_event;
  async_event.type = event.event_type;
  switch (event.event_type) {
    case IBV_EVENT_QP_FATAL:
    case IBV_EVENT_QP_REQ_ERR:
    case IBV_EVENT_QP_ACCESS_ERR:
    case IBV_EVENT_COMM_EST:
    case IBV_EVENT_SQ_DRAINED:
    case IBV_EVENT_PATH_MIG:
    case IBV_EVENT_PATH_MIG_ERR:
    case IBV_EVENT_QP_LAST_WQE_REACHED:
      async_event.queue_pair = event.element.qp->qp_num;
      break;
    case IBV_EVENT_CQ_ERR:
      async_event.queue = event.element.cq;
      break;
    case IBV_EVENT_SRQ_ERR:
    case IBV_EVENT_SRQ_LIMIT_REACHED:
      async_event.queue = event.element.srq;
      break;
    case IBV_EVENT_PORT_ACTIVE:
    case IBV_EVENT_PORT_ERR:
    case IBV_EVENT_LID_CHANGE:
    case IBV_EVENT_PKEY_CHANGE:
    case IBV_EVENT_SM_CHANGE:
    case IBV_EVENT_CLIENT_REREGISTER:
    case IBV_EVENT_GID_CHANGE:
      async_event.port = event.element.port_num;
      break;
    default:
      break;
  }
  return async_event;
}

}  // namespace

absl::StatusOr<std::unique_ptr<AsyncSource>> AsyncSource::Create(const VerbsApi& api,
                                                                 EventLoop& control,
                                                                 ibv_context* context,
                                                                 OnEvent on_event) {
  std::unique_ptr<AsyncSource> source(new AsyncSource(api, control, context, std::move(on_event)));
  const int flags = ::fcntl(context->async_fd, F_GETFL);
  if (flags < 0 || ::fcntl(context->async_fd, F_SETFL, flags | O_NONBLOCK) != 0) {
    return Annotate(ErrnoStatus(errno), "fcntl of a device's events");
  }
  auto watch = control.fds().Add(context->async_fd, EPOLLIN, *source);
  if (!watch.ok()) return watch.status();
  source->watch_ = *watch;
  source->subscriber_ = std::make_shared<Subscriber>(Subscriber{control, source.get()});
  Subscribers::All().Add(context, source->subscriber_);
  return source;
}

AsyncSource::~AsyncSource() {
  if (watch_) control_.fds().Remove(*watch_, context_->async_fd);
  if (subscriber_ == nullptr) return;
  Subscribers::All().Remove(context_, subscriber_);
  subscriber_->source = nullptr;
}

// One at a time: the descriptor stays readable while there are more. Another Runtime may have
// been quicker.
void AsyncSource::OnReady(uint32_t) {
  ibv_async_event event{};
  // A read that is short leaves it as it was.
  errno = 0;
  if (api_.ibv.get_async_event(context_, &event) != 0) return OnFailure(errno);
  const Event async_event = EventOf(event);
  // Destroying what it is about waits for this, ibv_ack_async_event(3).
  api_.ibv.ack_async_event(&event);
  Subscribers::All().NotifyOthers(context_, subscriber_, async_event);
  on_event_(async_event);
}

// The man page names no errors; they are those of read(2) from the kernel's file.
void AsyncSource::OnFailure(int error) {
  if (error == EAGAIN || error == EINTR) return;
  control_.fds().Remove(*std::exchange(watch_, std::nullopt), context_->async_fd);
  // What the kernel says once it has taken the device away from under the context, each time
  // and to each who reads; and a device's own word for that it is not there.
  if (error == EIO || error == ENODEV) return on_event_(Event{.type = IBV_EVENT_DEVICE_FATAL});
  on_event_(Annotate(ErrnoStatus(error == 0 ? EPROTO : error), "ibv_get_async_event"));
}

}  // namespace farcall
