// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_TRANSPORT_RDMA_TESTING_RDMA_HARNESS_H_
#define FARCALL_TRANSPORT_RDMA_TESTING_RDMA_HARNESS_H_

#include <atomic>
#include <functional>
#include <memory>
#include <thread>
#include <vector>

#include "transport/loop/drivers/loop_driver.h"
#include "transport/rdma/testing/rdma_rig.h"
#include "transport/testing/conformance/conformance_harness.h"

namespace farcall {

// Where the checks find each other.
struct RdmaPlaces {
  Address free;      // with port 0
  Address refusing;  // nothing listens
  Address silent;    // no host answers
};

// RdmaTransport for the conformance suite, stepped by hand in one thread.
class SteppedRdmaHarness : public ConformanceHarness {
 public:
  // `step`, if any, lets something happen outside (true: it did): a FakeFabric.
  SteppedRdmaHarness(const RdmaRigOptions& options, RdmaPlaces places,
                     std::function<bool()> step = nullptr);
  ~SteppedRdmaHarness() override;

  Transport& transport() override { return *listening_; }
  RdmaTransport& rdma() { return rig_.transport(); }
  RdmaRig& rig() { return rig_; }
  LoopGroup& loops() override { return rig_.loops(); }
  BlockPool& pool() override { return rig_.pool(); }
  Address FreeAddress() override { return places_.free; }
  Address RefusingAddress() override { return places_.refusing; }
  Address SilentAddress() override { return places_.silent; }
  void Run(EventLoop& loop, absl::FunctionRef<void()> work) override;
  bool Until(absl::FunctionRef<bool()> done) override;
  void Settle() override;
  void End() override;
  size_t LargestMessage() const override { return size_t{2} << 20; }
  // More than send and receive slots hold.
  size_t MoreThanFits() const override { return size_t{12} << 20; }

  bool Step();
  // The control loop has nothing to do: who waits for it from outside finds it free.
  void DrainControl();

 private:
  class Listening;

  const RdmaPlaces places_;
  const std::function<bool()> step_;
  RdmaRig rig_;
  std::unique_ptr<Transport> listening_;
};

// The same with threads, as in a program.
class DrivenRdmaHarness : public ConformanceHarness {
 public:
  DrivenRdmaHarness(const RdmaRigOptions& options, RdmaPlaces places,
                    std::function<bool()> step = nullptr, PollingMode mode = PollingMode::kEvent);
  ~DrivenRdmaHarness() override;

  Transport& transport() override { return rig_.direct(); }
  RdmaRig& rig() { return rig_; }
  LoopGroup& loops() override { return rig_.loops(); }
  BlockPool& pool() override { return rig_.pool(); }
  Address FreeAddress() override { return places_.free; }
  Address RefusingAddress() override { return places_.refusing; }
  Address SilentAddress() override { return places_.silent; }
  void Run(EventLoop& loop, absl::FunctionRef<void()> work) override;
  bool Until(absl::FunctionRef<bool()> done) override;
  void Settle() override;
  void End() override;
  size_t LargestMessage() const override { return size_t{2} << 20; }
  size_t MoreThanFits() const override { return size_t{12} << 20; }

 private:
  const RdmaPlaces places_;
  RdmaRig rig_;
  std::vector<std::unique_ptr<LoopDriver>> drivers_;
  std::atomic<bool> stop_{false};
  std::thread stepper_;
};

}  // namespace farcall

#endif  // FARCALL_TRANSPORT_RDMA_TESTING_RDMA_HARNESS_H_
