// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_TRANSPORT_LOOP_SOURCES_SOURCE_LIST_H_
#define FARCALL_TRANSPORT_LOOP_SOURCES_SOURCE_LIST_H_

#include <cstddef>
#include <vector>

#include "absl/status/status.h"
#include "transport/loop/sources/epoll_source.h"

namespace farcall {

// Something that a loop asks for work: the sockets, a completion queue. All calls
// come with the loop held. The loop spins on Poll, or arms every source and sleeps,
// and the source need not know which. Poll may add and remove sources; Arm and Disarm
// only arm and disarm.
class PollSource {
 public:
  // Does what is ready, a bounded amount. True: there was something.
  virtual bool Poll() = 0;
  // Asks to be woken through fd(). False: work slipped in meanwhile, poll again; the
  // source is then not armed.
  virtual bool Arm() = 0;
  // Undoes Arm, and consumes what it made readable. Once for each Arm that was granted.
  virtual void Disarm() = 0;
  // Readable when an armed source has work. The same for life.
  virtual int fd() const = 0;

 protected:
  ~PollSource() = default;
};

// The poll sources of a loop. With the loop held.
class SourceList {
 public:
  // The descriptors of the sources are watched by `fds`, which outlives the list.
  explicit SourceList(EpollSource& fds) : fds_(fds) {}
  SourceList(const SourceList&) = delete;
  SourceList& operator=(const SourceList&) = delete;

  // `source` outlives its place here.
  absl::Status Add(PollSource& source);
  void Remove(PollSource& source);  // disarms it if need be
  size_t size() const { return entries_.size(); }

  // True: one of them had work.
  bool PollAll();
  // All or none. False: work slipped in meanwhile.
  bool ArmAll();
  // Those that are armed.
  void DisarmAll();

 private:
  // An armed source's descriptor only ends a sleep: what is there to do, Poll finds.
  struct Waker final : FdHandler {
    void OnReady(uint32_t) override {}
  };
  struct Entry {
    PollSource* source;
    EpollSource::Watch watch;
    bool armed;
  };

  EpollSource& fds_;
  Waker waker_;
  std::vector<Entry> entries_;
  size_t next_ = 0;  // of the PollAll that runs
};

}  // namespace farcall

#endif  // FARCALL_TRANSPORT_LOOP_SOURCES_SOURCE_LIST_H_
