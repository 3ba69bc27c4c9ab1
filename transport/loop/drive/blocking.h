// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_TRANSPORT_LOOP_DRIVE_BLOCKING_H_
#define FARCALL_TRANSPORT_LOOP_DRIVE_BLOCKING_H_

#include <atomic>
#include <mutex>
#include <string>

#include "absl/status/status.h"

namespace farcall {

// User code that is notified when it runs for long.
class WatchedCode {
 public:
  // By another thread, between BeginWatch and EndWatch; at most once for each.
  virtual void OnLong() = 0;
  // By its own thread, each time before it waits for something; OnLong does not come afterwards.
  virtual void OnBlocking() {}
  // For a line of the log.
  virtual std::string Name() const = 0;

 protected:
  ~WatchedCode() = default;
};

// What code a thread runs. One thread sets and clears it, others tell; once Clear has returned,
// no thread touches the code any more.
class WatchSlot {
 public:
  void Set(WatchedCode& code) {
    running_ = &code;
    code_.store(&code, std::memory_order_release);
  }
  void OnBlocking() {
    if (running_ == nullptr) return;
    TakeBack();
    running_->OnBlocking();
  }
  void Clear() {
    running_ = nullptr;
    TakeBack();
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
  void TakeBack() {
    if (code_.exchange(nullptr, std::memory_order_acq_rel) != nullptr) return;
    // It was told, maybe just now.
    std::lock_guard<std::mutex> lock(telling_);
  }

  std::atomic<WatchedCode*> code_{nullptr};  // to be told; null: it was, or will not be
  WatchedCode* running_ = nullptr;           // its own thread's
  std::mutex telling_;
};

// What a thread does before user code on it blocks, and where that code can be watched.
class BlockingHook {
 public:
  // kResourceExhausted: no other thread can do what this one would wait for.
  virtual absl::Status BeforeBlocking() = 0;

  WatchSlot watched;

 protected:
  ~BlockingHook() = default;
};

// Called before this thread waits for something that takes a loop's work. If it drives a
// loop, another thread takes the drive over. kResourceExhausted, with the limit that was reached:
// there is no other, and the caller must fail instead of waiting.
absl::Status BeforeBlocking();

// For drivers: the hook of this thread while it runs user code; null: none.
void SetBlockingHook(BlockingHook* hook);

// From now on `code` runs on this thread, and is notified when it runs for long on a thread that
// drives a loop, until EndWatch.
void BeginWatch(WatchedCode& code);
void EndWatch();

}  // namespace farcall

#endif  // FARCALL_TRANSPORT_LOOP_DRIVE_BLOCKING_H_
