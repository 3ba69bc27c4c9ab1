// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_TRANSPORT_LOOP_BLOCKING_H_
#define FARCALL_TRANSPORT_LOOP_BLOCKING_H_

namespace farcall {

// What a thread that drives a loop does before user code on it blocks.
class BlockingHook {
 public:
  // False: nobody can take over, so blocking would stall the loop.
  virtual bool BeforeBlocking() = 0;

 protected:
  ~BlockingHook() = default;
};

// Called before this thread waits for something that takes a loop's work. If it drives a
// loop, another thread takes the drive over. False: there is no other (too many
// wait already), and the caller must fail instead of waiting.
bool BeforeBlocking();

// For drivers: the hook of this thread while it runs user code; null: none.
void SetBlockingHook(BlockingHook* hook);

}  // namespace farcall

#endif  // FARCALL_TRANSPORT_LOOP_BLOCKING_H_
