// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_TRANSPORT_LOOP_BLOCKING_H_
#define FARCALL_TRANSPORT_LOOP_BLOCKING_H_

#include "transport/loop/watch_slot.h"

namespace farcall {

// What a thread does before user code on it blocks, and where that code can be watched.
class BlockingHook {
 public:
  // False: no thread can take over, so blocking would stall a loop.
  virtual bool BeforeBlocking() = 0;

  WatchSlot watched;

 protected:
  ~BlockingHook() = default;
};

// Called before this thread waits for something that takes a loop's work. If it drives a
// loop, another thread takes the drive over. False: there is no other (too many
// wait already), and the caller must fail instead of waiting.
bool BeforeBlocking();

// For drivers: the hook of this thread while it runs user code; null: none.
void SetBlockingHook(BlockingHook* hook);

// While it lives, `code` runs on this thread, and is notified when it runs for long on a thread
// that drives a loop.
class WatchScope {
 public:
  explicit WatchScope(WatchedCode& code);
  WatchScope(const WatchScope&) = delete;
  WatchScope& operator=(const WatchScope&) = delete;
  ~WatchScope();

 private:
  BlockingHook* const hook_;
};

}  // namespace farcall

#endif  // FARCALL_TRANSPORT_LOOP_BLOCKING_H_
