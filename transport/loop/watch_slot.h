// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_TRANSPORT_LOOP_WATCH_SLOT_H_
#define FARCALL_TRANSPORT_LOOP_WATCH_SLOT_H_

#include <atomic>
#include <mutex>
#include <string>

namespace farcall {

// User code that is notified when it runs for long.
class WatchedCode {
 public:
  // By another thread, while it still runs; at most once.
  virtual void OnLong() = 0;
  // For a line of the log.
  virtual std::string Name() const = 0;

 protected:
  ~WatchedCode() = default;
};

// What code a thread runs. One thread sets and clears it, others tell; once Clear has returned,
// no thread touches the code any more.
class WatchSlot {
 public:
  void Set(WatchedCode& code) { code_.store(&code, std::memory_order_release); }
  void Clear() {
    if (code_.exchange(nullptr, std::memory_order_acq_rel) != nullptr) return;
    // Who took it out tells it, maybe just now.
    std::lock_guard<std::mutex> lock(telling_);
  }
  // Returns its name; "": there is no code, or it was returned before.
  std::string TakeName() {
    std::lock_guard<std::mutex> lock(telling_);
    WatchedCode* const code = code_.exchange(nullptr, std::memory_order_acq_rel);
    if (code == nullptr) return "";
    code->OnLong();
    return code->Name();
  }

 private:
  std::atomic<WatchedCode*> code_{nullptr};
  std::mutex telling_;
};

}  // namespace farcall

#endif  // FARCALL_TRANSPORT_LOOP_WATCH_SLOT_H_
