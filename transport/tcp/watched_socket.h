// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_TRANSPORT_TCP_WATCHED_SOCKET_H_
#define FARCALL_TRANSPORT_TCP_WATCHED_SOCKET_H_

#include <cstdint>
#include <memory>
#include <utility>

#include "absl/status/statusor.h"
#include "transport/base/unique_fd.h"
#include "transport/loop/event_loop.h"

namespace farcall {

// A connection's socket and its place in the loop's epoll: entered once, edge-triggered,
// for reading and writing alike, and never changed. Who connects hands it on to who
// carries the bytes. With the loop held.
class WatchedSocket final : private FdHandler {
 public:
  // `loop` outlives it. Fails when the kernel is out of memory or of watches
  // (/proc/sys/fs/epoll/max_user_watches, epoll(7)).
  static absl::StatusOr<std::unique_ptr<WatchedSocket>> Create(EventLoop& loop, UniqueFd fd);
  WatchedSocket(const WatchedSocket&) = delete;
  WatchedSocket& operator=(const WatchedSocket&) = delete;
  ~WatchedSocket() { Close(); }

  EventLoop& loop() const { return loop_; }
  int fd() const { return fd_.get(); }
  // Gets the events from now on; null: events are lost. Outlives its place here.
  void SetHandler(FdHandler* handler) { handler_ = handler; }
  void SetBulk(bool bulk) { loop_.fds().SetBulk(watch_, bulk); }
  // Nothing of it is left in the kernel. Once or more; also from inside the handler.
  void Close();

 private:
  WatchedSocket(EventLoop& loop, UniqueFd fd) : loop_(loop), fd_(std::move(fd)) {}
  void OnReady(uint32_t events) override {
    if (handler_ != nullptr) handler_->OnReady(events);
  }

  EventLoop& loop_;
  UniqueFd fd_;
  EpollSource::Watch watch_;
  bool watched_ = false;
  FdHandler* handler_ = nullptr;
};

}  // namespace farcall

#endif  // FARCALL_TRANSPORT_TCP_WATCHED_SOCKET_H_
