// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_TRANSPORT_LOOP_DRIVERS_LOOP_PLACES_H_
#define FARCALL_TRANSPORT_LOOP_DRIVERS_LOOP_PLACES_H_

#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "transport/base/host/numa_node.h"
#include "transport/base/threads/thread_place.h"
#include "transport/loop/drivers/near_adapters.h"
#include "transport/loop/event_loop.h"

namespace farcall {

// The processors of the loops of a runtime. Any thread.
class LoopPlaces {
 public:
  struct Options {
    std::vector<int> cpus;       // loop i runs on cpus[i % size()] only; empty: as it comes
    bool near_adapters = false;  // then, if there are none, as OnAdapters decides
    HostCpus host;
  };
  // kInvalidArgument: one of `cpus` may not be used.
  static absl::StatusOr<std::unique_ptr<LoopPlaces>> Create(
      const std::vector<std::unique_ptr<EventLoop>>& loops, const Options& options);
  LoopPlaces(const LoopPlaces&) = delete;
  LoopPlaces& operator=(const LoopPlaces&) = delete;

  // For the threads of this loop.
  ThreadPlace& OfLoop(size_t loop) { return threads_[loop]; }
  // For the thread that registers memory with adapters. Of pages that were not touched before,
  // that is what puts them on a node: its own.
  ThreadPlace& OfRegistration() { return registration_; }
  // The NUMA node of the processors that drive it; -1: of several, not known, or another loop.
  int NodeOf(const EventLoop& loop) const;
  // The nodes of the adapters that may be used, -1 where it is not known. The first time loops are
  // moved to them where that helps (PlacesNear), registration with them, and where to is logged;
  // else
  // "". What comes later moves nothing, since connections stay with their adapters.
  std::string OnAdapters(const std::vector<int>& nodes);
  // Of what OnAdapters has moved.
  std::string moved() const;

 private:
  LoopPlaces(const std::vector<std::unique_ptr<EventLoop>>& loops, const Options& options);
  void NotifyLoops();

  const HostCpus host_;
  std::vector<EventLoop*> loops_;
  std::deque<ThreadPlace> threads_;  // of each loop
  ThreadPlace registration_;
  mutable std::mutex mutex_;
  // Guarded by mutex_.
  std::vector<int> nodes_;  // of each loop
  bool may_move_;
  std::string moved_;
};

}  // namespace farcall

#endif  // FARCALL_TRANSPORT_LOOP_DRIVERS_LOOP_PLACES_H_
