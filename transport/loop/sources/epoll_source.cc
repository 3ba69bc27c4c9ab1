// SPDX-License-Identifier: Apache-2.0

#include "transport/loop/sources/epoll_source.h"

#include <cerrno>
#include <utility>

#include "absl/strings/str_cat.h"
#include "transport/base/check.h"

namespace farcall {
namespace {

uint64_t Pack(EpollSource::Watch watch) { return uint64_t{watch.generation} << 32 | watch.slot; }

}  // namespace

absl::StatusOr<std::unique_ptr<EpollSource>> EpollSource::Create() {
  UniqueFd epoll(::epoll_create1(EPOLL_CLOEXEC));
  if (!epoll.valid())
    return absl::ErrnoToStatus(errno, "an event loop needs epoll_create1; look at ulimit -n");
  return std::unique_ptr<EpollSource>(new EpollSource(std::move(epoll)));
}

absl::StatusOr<EpollSource::Watch> EpollSource::Add(int fd, uint32_t events, FdHandler& handler,
                                                    bool crowds) {
  if (free_slots_.empty()) {
    free_slots_.push_back(static_cast<uint32_t>(entries_.size()));
    entries_.emplace_back();
  }
  const uint32_t slot = free_slots_.back();
  const Watch watch{slot, entries_[slot].generation};
  epoll_event event{};
  event.events = events;
  event.data.u64 = Pack(watch);
  if (::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, fd, &event) != 0) {
    const int error = errno;
    // The only limit on watches there is, epoll(7).
    const char* const cure = error == ENOSPC ? "; raise fs.epoll.max_user_watches" : "";
    return absl::ErrnoToStatus(error, absl::StrCat("epoll_ctl cannot add descriptor ", fd, cure));
  }
  free_slots_.pop_back();
  entries_[slot].handler = &handler;
  entries_[slot].crowds = crowds;
  entries_[slot].bulk = false;
  return watch;
}

void EpollSource::Remove(Watch watch, int fd) {
  Entry& entry = entries_.at(watch.slot);
  Check(entry.handler != nullptr && entry.generation == watch.generation,
        "a watch is removed once");
  Check(::epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, fd, nullptr) == 0,
        "a watch is removed before its descriptor is closed");
  entry.handler = nullptr;
  ++entry.generation;
  free_slots_.push_back(watch.slot);
}

bool EpollSource::PollAll() {
  bool worked = fetched() && Poll();
  // Level-triggered events come again and again, but behind those that were not delivered yet.
  const size_t most = size() / kBatch + 1;
  for (size_t i = 0; i < most; ++i) {
    worked |= Poll();
    if (fetched_ < kBatch) break;
  }
  return worked;
}

void EpollSource::DispatchNext() {
  const epoll_event event = ready_[next_++];
  const auto slot = static_cast<uint32_t>(event.data.u64);
  const Entry entry = entries_[slot];
  if (entry.handler == nullptr || entry.generation != event.data.u64 >> 32) return;
  if (entry.crowds) CountForCrowd(slot, entry.bulk);
  entry.handler->OnReady(event.events);
}

void EpollSource::CountForCrowd(uint32_t slot, bool bulk) {
  if (slot != last_slot_ && !bulk) {
    crowded_ = kAlone;
  } else if (crowded_ > 0) {
    --crowded_;
  }
  last_slot_ = slot;
}

void EpollSource::Wait() {
  Check(!fetched(), "what a sleep fetched is polled before the next");
  Fetch(-1);
}

void EpollSource::Fetch(int timeout_ms) {
  const int count = ::epoll_wait(epoll_.get(), ready_.data(), kBatch, timeout_ms);
  // EINTR, by a signal handler of the program: nothing is lost, the driver comes again.
  Check(count >= 0 || errno == EINTR, "epoll_wait takes its own descriptor");
  fetched_ = count < 0 ? 0 : static_cast<size_t>(count);
  next_ = 0;
}

}  // namespace farcall
