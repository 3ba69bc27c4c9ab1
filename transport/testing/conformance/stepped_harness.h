// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_TRANSPORT_TESTING_CONFORMANCE_STEPPED_HARNESS_H_
#define FARCALL_TRANSPORT_TESTING_CONFORMANCE_STEPPED_HARNESS_H_

#include <memory>
#include <vector>

#include "transport/base/clock.h"
#include "transport/testing/conformance/conformance_harness.h"

namespace farcall {

// A harness whose loops are stepped by hand, in one thread, in real time: for
// transports that the kernel or a device carries.
class SteppedHarness : public ConformanceHarness {
 public:
  ~SteppedHarness() override = default;

  LoopGroup& loops() override { return *group_; }
  BlockPool& pool() override { return *pool_; }
  void Run(EventLoop& loop, absl::FunctionRef<void()> work) override;
  bool Until(absl::FunctionRef<bool()> done) override;
  void Settle() override;

 protected:
  // Lets the loops run what is posted. Before the transport is destroyed.
  void Finish() { Settle(); }
  SteppedHarness();
  // One turn of each loop. True: there was work.
  bool Step();

 private:
  static constexpr int kLoops = 3;

  SteadyClock clock_;
  std::unique_ptr<BlockPool> pool_;
  std::vector<std::unique_ptr<EventLoop>> owned_;
  std::unique_ptr<LoopGroup> group_;
};

}  // namespace farcall

#endif  // FARCALL_TRANSPORT_TESTING_CONFORMANCE_STEPPED_HARNESS_H_
