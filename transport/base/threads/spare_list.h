// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_TRANSPORT_BASE_THREADS_SPARE_LIST_H_
#define FARCALL_TRANSPORT_BASE_THREADS_SPARE_LIST_H_

#include <array>
#include <atomic>
#include <cstddef>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "transport/base/threads/thread_slot.h"

namespace farcall {

// Pointers to what was used and may be used again, `kMax` at most. Any thread. A thread that gives
// back as much as it takes takes no lock and touches nothing of the others: it has up to `kOwn` for
// itself, and moves half of them at once from and to the list that all share. Destroys nothing.
template <typename T, size_t kMax, size_t kOwn>
class SpareList {
 public:
  SpareList() = default;
  SpareList(const SpareList&) = delete;
  SpareList& operator=(const SpareList&) = delete;
  // Closed, or empty.
  ~SpareList() {
    for (std::atomic<Own*>& place : own_) delete place.load(std::memory_order_relaxed);
  }

  // Null: there is none at hand.
  T* Take() {
    Own& own = OwnOfThisThread();
    if (own.busy.exchange(true, std::memory_order_acquire)) [[unlikely]]
      return TakeShared();
    if (own.count == 0) Refill(own);
    T* const piece = own.count == 0 ? nullptr : own.pieces[--own.count];
    own.busy.store(false, std::memory_order_release);
    return piece;
  }
  // False: it is not kept.
  bool Give(T* piece) {
    Own& own = OwnOfThisThread();
    if (own.busy.exchange(true, std::memory_order_acquire)) [[unlikely]]
      return GiveShared(piece);
    if (own.count == kOwn) Spill(own);
    const bool kept = !own.closed && own.count < kOwn;
    if (kept) own.pieces[own.count++] = piece;
    own.busy.store(false, std::memory_order_release);
    return kept;
  }
  // All that are kept, which are the caller's now; none is kept from now on.
  std::vector<T*> Close() {
    std::vector<T*> all;
    {
      // At once: from now on nothing comes from there to a thread's own, nor the other way.
      std::lock_guard<std::mutex> lock(mutex_);
      closed_ = true;
      all.swap(shared_);
    }
    for (std::atomic<Own*>& place : own_) {
      Own* const own = place.load(std::memory_order_acquire);
      if (own == nullptr) continue;
      // Who has it does little with it, unless the kernel put it to sleep: let it go on.
      while (own->busy.exchange(true, std::memory_order_acquire)) std::this_thread::yield();
      own->closed = true;
      while (own->count > 0) all.push_back(own->pieces[--own->count]);
      own->busy.store(false, std::memory_order_release);
    }
    return all;
  }

 private:
  static constexpr size_t kThreads = 8;  // more share
  static_assert(kOwn >= 2 && kMax >= kThreads * kOwn, "the shared list may hold what is left");

  // Touched by who has set `busy`; who finds it set does not wait. A cache line of its own.
  struct alignas(64) Own {
    std::atomic<bool> busy{false};
    bool closed = false;
    size_t count = 0;
    std::array<T*, kOwn> pieces;
  };

  Own& OwnOfThisThread() {
    std::atomic<Own*>& place = own_[ThreadSlot() % kThreads];
    Own* const own = place.load(std::memory_order_acquire);
    return own != nullptr ? *own : Make(place);
  }
  // Made when first used. What it may hold is taken from what the shared list may.
  Own& Make(std::atomic<Own*>& place) {
    std::lock_guard<std::mutex> lock(mutex_);
    if (Own* const there = place.load(std::memory_order_acquire)) return *there;
    Own* const made = new Own;
    made->closed = closed_;
    Move(kOwn, *made);
    most_shared_ -= kOwn;
    place.store(made, std::memory_order_release);
    return *made;
  }
  // With mutex_ held.
  void Move(size_t most, Own& own) {
    for (; most > 0 && !shared_.empty(); --most) {
      own.pieces[own.count++] = shared_.back();
      shared_.pop_back();
    }
  }
  // Both are seldom, and would cost Take and Give registers if they were inlined there.
  [[gnu::noinline]] void Refill(Own& own) {
    std::lock_guard<std::mutex> lock(mutex_);
    Move(kOwn / 2, own);
  }
  [[gnu::noinline]] void Spill(Own& own) {
    std::lock_guard<std::mutex> lock(mutex_);
    ReserveShared();
    while (own.count > kOwn / 2 && !closed_ && shared_.size() < most_shared_) {
      shared_.push_back(own.pieces[--own.count]);
    }
  }
  // With mutex_ held. Most lists never share: they need no memory for it.
  void ReserveShared() {
    if (!closed_) shared_.reserve(kMax);
  }
  T* TakeShared() {
    std::lock_guard<std::mutex> lock(mutex_);
    if (shared_.empty()) return nullptr;
    T* const piece = shared_.back();
    shared_.pop_back();
    return piece;
  }
  bool GiveShared(T* piece) {
    std::lock_guard<std::mutex> lock(mutex_);
    if (closed_ || shared_.size() >= most_shared_) return false;
    ReserveShared();
    shared_.push_back(piece);
    return true;
  }

  std::array<std::atomic<Own*>, kThreads> own_{};
  std::mutex mutex_;
  // Guarded by mutex_.
  std::vector<T*> shared_;
  size_t most_shared_ = kMax;
  bool closed_ = false;
};

}  // namespace farcall

#endif  // FARCALL_TRANSPORT_BASE_THREADS_SPARE_LIST_H_
