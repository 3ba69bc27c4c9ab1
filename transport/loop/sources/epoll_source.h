// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_TRANSPORT_LOOP_SOURCES_EPOLL_SOURCE_H_
#define FARCALL_TRANSPORT_LOOP_SOURCES_EPOLL_SOURCE_H_

#include <sys/epoll.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "transport/base/check.h"
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

  // `events` with EPOLLET as the caller wants it. `handler` outlives the watch. `crowds`: whether
  // its events count for crowded(); those of what only ends a sleep do not.
  absl::StatusOr<Watch> Add(int fd, uint32_t events, FdHandler& handler, bool crowds = true);
  // Before `fd` is closed.
  void Remove(Watch watch, int fd);
  // Whether what `watch` belongs to has much to do itself, which is no reason for others to leave
  // some of theirs.
  void SetBulk(Watch watch, bool bulk) {
    Entry& entry = entries_[watch.slot];
    Check(entry.generation == watch.generation, "a watch that is removed has nothing to do");
    entry.bulk = bulk;
  }

  // How many watches there are.
  size_t size() const { return entries_.size() - free_slots_.size(); }
  // Whether something was fetched, by Wait say, whose handlers were not called yet.
  bool fetched() const { return next_ < fetched_; }

  // Whether events of the last while came for more than one watch, one of which has little to do:
  // who has much then leaves some of it for the next turn, so that this one need not wait for all.
  bool crowded() const { return crowded_ > 0; }

  // Calls the handlers of what is ready, at most kBatch events: those that were fetched before,
  // else those that are there now. True: there were some. Before each it asks enough(): once that
  // is true, this one and the rest stay fetched.
  template <typename Enough>
  bool PollUntil(Enough&& enough) {
    if (!fetched()) Fetch(0);
    const bool some = fetched();
    if (!some && crowded_ > 0) --crowded_;
    while (fetched() && !enough()) DispatchNext();
    return some;
  }
  bool Poll() {
    return PollUntil([] { return false; });
  }
  // Those of all that is ready now, however many, and of what Wait fetched, which may be old.
  bool PollAll();

  // Sleeps until something is ready and fetches it for Poll. Without the loop held, by
  // the one thread that drives the loop, no Poll running. What the last Wait fetched has
  // been polled, since an edge comes once.
  void Wait();

 private:
  static constexpr size_t kBatch = 128;
  // So many events in a row for one watch, or so many looks that find none, and it is taken to be
  // alone.
  static constexpr int kAlone = 64;
  struct Entry {
    FdHandler* handler = nullptr;
    uint32_t generation = 0;
    bool crowds = true;
    bool bulk = false;
  };

  explicit EpollSource(UniqueFd epoll) : epoll_(std::move(epoll)) {}
  void Fetch(int timeout_ms);
  void DispatchNext();
  void CountForCrowd(uint32_t slot, bool bulk);

  UniqueFd epoll_;
  std::vector<Entry> entries_;
  std::vector<uint32_t> free_slots_;
  std::array<epoll_event, kBatch> ready_;
  size_t fetched_ = 0;
  size_t next_ = 0;  // of those: it and what follows is to be dispatched
  uint32_t last_slot_ = 0;
  int crowded_ = 0;
};

}  // namespace farcall

#endif  // FARCALL_TRANSPORT_LOOP_SOURCES_EPOLL_SOURCE_H_
