// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_TRANSPORT_RDMA_TESTING_FABRIC_DEVICE_FAKE_FD_QUEUE_H_
#define FARCALL_TRANSPORT_RDMA_TESTING_FABRIC_DEVICE_FAKE_FD_QUEUE_H_

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <deque>
#include <mutex>
#include <utility>

#include "transport/base/check.h"
#include "transport/base/unique_fd.h"

namespace farcall {

// Events behind a file descriptor that is readable while there are any, as the kernel's
// are. All calls with the fabric's mutex held.
template <typename Event>
class FakeFdQueue {
 public:
  FakeFdQueue() : fd_(::eventfd(0, EFD_CLOEXEC)) { Check(fd_.valid(), "eventfd failed"); }

  int fd() const { return fd_.get(); }
  bool empty() const { return events_.empty(); }
  void Push(Event event) {
    events_.push_back(std::move(event));
    if (events_.size() > 1) return;
    const uint64_t one = 1;
    Check(::write(fd_.get(), &one, sizeof(one)) == sizeof(one), "an eventfd takes 1");
  }
  // Waits for an event, with `lock` released meanwhile. False, errno EAGAIN: there is none,
  // and the descriptor has O_NONBLOCK.
  bool Wait(std::unique_lock<std::mutex>& lock) const {
    while (events_.empty()) {
      if ((::fcntl(fd_.get(), F_GETFL) & O_NONBLOCK) != 0) {
        errno = EAGAIN;
        return false;
      }
      lock.unlock();
      pollfd readable{.fd = fd_.get(), .events = POLLIN, .revents = 0};
      ::poll(&readable, 1, -1);
      lock.lock();
    }
    return true;
  }
  Event Pop() {
    Event event = std::move(events_.front());
    events_.pop_front();
    if (events_.empty()) Drain();
    return event;
  }
  // Takes out those for which `drop` holds; it may look at them a last time.
  template <typename Drop>
  void RemoveIf(Drop drop) {
    if (events_.empty()) return;
    const auto end = std::remove_if(events_.begin(), events_.end(), drop);
    events_.erase(end, events_.end());
    if (events_.empty()) Drain();
  }
  // It cannot be waited for any more.
  void Close() {
    events_.clear();
    fd_.Reset();
  }

 private:
  // Readable since the first Push, so it does not block.
  void Drain() {
    uint64_t count;
    Check(::read(fd_.get(), &count, sizeof(count)) == sizeof(count), "an eventfd gives its count");
  }

  UniqueFd fd_;
  std::deque<Event> events_;
};

}  // namespace farcall

#endif  // FARCALL_TRANSPORT_RDMA_TESTING_FABRIC_DEVICE_FAKE_FD_QUEUE_H_
