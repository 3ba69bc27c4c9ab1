// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_TRANSPORT_LOOP_EPOLL_SOURCE_H_
#define FARCALL_TRANSPORT_LOOP_EPOLL_SOURCE_H_

#include <sys/epoll.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "transport/base/unique_fd.h"

namespace farcall {

class FdHandler {
 public:
  // With the loop held. `events`: EPOLLIN and so on, epoll_ctl(2).
  virtual void OnReady(uint32_t events) = 0;

 protected:
  ~FdHandler() = default;
};

// The file descriptors of a loop, and the place where its driver sleeps.
// With the loop held, except Wait.
class EpollSource {
 public:
  // Names a watch. Numbers are not used twice, so that an event that was fetched before
  // Remove is dropped.
  struct Watch {
    uint32_t slot = 0;
    uint32_t generation = 0;
  };

  // kResourceExhausted when the process is out of file descriptors.
  static absl::StatusOr<std::unique_ptr<EpollSource>> Create();

  // `events` with EPOLLET as the caller wants it. `handler` outlives the watch.
  absl::StatusOr<Watch> Add(int fd, uint32_t events, FdHandler& handler);
  // Before `fd` is closed.
  void Remove(Watch watch, int fd);

  // How many watches there are.
  size_t size() const { return entries_.size() - free_slots_.size(); }
  // Whether Wait fetched something for the next Poll.
  bool fetched() const { return fetched_ > 0; }

  // Calls the handlers of what is ready, at most kBatch events: those that Wait
  // fetched, else those that are there now. True: there were some.
  bool Poll();
  // Those of all that is ready now, however many, and of what Wait fetched, which may be old.
  bool PollAll();

  // Sleeps until something is ready and fetches it for Poll. Without the loop held, by
  // the one thread that drives the loop, no Poll running. What the last Wait fetched has
  // been polled, since an edge comes once.
  void Wait();

 private:
  static constexpr int kBatch = 128;
  struct Entry {
    FdHandler* handler = nullptr;
    uint32_t generation = 0;
  };

  explicit EpollSource(UniqueFd epoll) : epoll_(std::move(epoll)) {}
  int Fetch(int timeout_ms);
  void Dispatch(int count);

  UniqueFd epoll_;
  std::vector<Entry> entries_;
  std::vector<uint32_t> free_slots_;
  std::array<epoll_event, kBatch> ready_;
  int fetched_ = 0;
};

}  // namespace farcall

#endif  // FARCALL_TRANSPORT_LOOP_EPOLL_SOURCE_H_
