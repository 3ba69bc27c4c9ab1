// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_TRANSPORT_TESTING_CONFORMANCE_CONFORMANCE_HARNESS_H_
#define FARCALL_TRANSPORT_TESTING_CONFORMANCE_CONFORMANCE_HARNESS_H_

#include <cstddef>
#include <cstdint>

#include "absl/functional/function_ref.h"
#include "transport/address.h"
#include "transport/buffer/block_pool.h"
#include "transport/loop/event_loop.h"
#include "transport/loop/loop_group.h"
#include "transport/transport.h"

namespace farcall {

// A Transport with all that it takes to run the conformance suite over it. A fresh one
// for each check; used by one thread, which holds no loop.
class ConformanceHarness {
 public:
  virtual ~ConformanceHarness() = default;

  virtual Transport& transport() = 0;
  virtual LoopGroup& loops() = 0;  // at least two
  virtual BlockPool& pool() = 0;   // of the transport

  // Where a Listener can be opened; each time another place.
  virtual Address FreeAddress() = 0;
  // Where nothing listens, and the network says so.
  virtual Address RefusingAddress() = 0;
  // Where no answer ever comes.
  virtual Address SilentAddress() = 0;

  // Runs `work` with `loop` held, and returns when it has run.
  virtual void Run(EventLoop& loop, absl::FunctionRef<void()> work) = 0;
  // Lets the loops turn until `done`, which is called without a loop held. False: it did
  // not come in a time that is ample.
  virtual bool Until(absl::FunctionRef<bool()> done) = 0;
  // Lets the loops turn a while, so that what is under way arrives.
  virtual void Settle() = 0;

  // Ends a transport that keeps blocks while it has no connection. Nothing follows but a
  // look at the pool.
  virtual void End() {}

  // For the random choices of the checks.
  virtual uint64_t seed() const { return 1; }
  // The largest message that checks send.
  virtual size_t LargestMessage() const = 0;
  // More bytes than the transport takes from a writer whose reader has paused.
  virtual size_t MoreThanFits() const = 0;
};

}  // namespace farcall

#endif  // FARCALL_TRANSPORT_TESTING_CONFORMANCE_CONFORMANCE_HARNESS_H_
