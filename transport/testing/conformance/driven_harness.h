// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_TRANSPORT_TESTING_CONFORMANCE_DRIVEN_HARNESS_H_
#define FARCALL_TRANSPORT_TESTING_CONFORMANCE_DRIVEN_HARNESS_H_

#include <memory>
#include <vector>

#include "transport/base/clock.h"
#include "transport/loop/drivers/loop_driver.h"
#include "transport/testing/conformance/conformance_harness.h"

namespace farcall {

// A harness whose loops have threads of their own, as in a program.
class DrivenHarness : public ConformanceHarness {
 public:
  ~DrivenHarness() override = default;

  LoopGroup& loops() override { return *group_; }
  BlockPool& pool() override { return *pool_; }
  void Run(EventLoop& loop, absl::FunctionRef<void()> work) override;
  bool Until(absl::FunctionRef<bool()> done) override;
  void Settle() override;

 protected:
  // Ends the threads, after what is posted. Before the transport is destroyed.
  void Finish() { drivers_.clear(); }
  explicit DrivenHarness(PollingMode mode = PollingMode::kEvent);

 private:
  static constexpr int kLoops = 2;

  SteadyClock clock_;
  std::unique_ptr<BlockPool> pool_;
  std::vector<std::unique_ptr<EventLoop>> owned_;
  std::unique_ptr<LoopGroup> group_;
  std::vector<std::unique_ptr<LoopDriver>> drivers_;
};

}  // namespace farcall

#endif  // FARCALL_TRANSPORT_TESTING_CONFORMANCE_DRIVEN_HARNESS_H_
