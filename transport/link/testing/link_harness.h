// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_TRANSPORT_LINK_TESTING_LINK_HARNESS_H_
#define FARCALL_TRANSPORT_LINK_TESTING_LINK_HARNESS_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "transport/base/event_ring.h"
#include "transport/link/link_transport.h"
#include "transport/link/testing/sim_upgrade.h"
#include "transport/testing/conformance/conformance_harness.h"

namespace farcall {

// How the two ends of a link are.
struct LinkVariant {
  UpgradeOptions client;
  UpgradeOptions server;
  SimUpgradeOptions fabric;
  absl::Status client_available;  // what Probe says there
  absl::Status server_available;

  // Windows, delays and frames as a seed says, smaller than what checks write.
  static LinkVariant Of(uint64_t seed);
};

// LinkTransport for the conformance suite: TCP is that of another harness, simulated or
// real, and RDMA is a SimFabric.
class LinkHarness final : public ConformanceHarness {
 public:
  LinkHarness(std::unique_ptr<ConformanceHarness> inner, const LinkVariant& variant);
  ~LinkHarness() override;

  Transport& transport() override { return *both_; }
  LoopGroup& loops() override { return inner_->loops(); }
  BlockPool& pool() override { return inner_->pool(); }
  Address FreeAddress() override { return inner_->FreeAddress(); }
  Address RefusingAddress() override { return inner_->RefusingAddress(); }
  Address SilentAddress() override { return inner_->SilentAddress(); }
  void Run(EventLoop& loop, absl::FunctionRef<void()> work) override { inner_->Run(loop, work); }
  bool Until(absl::FunctionRef<bool()> done) override { return inner_->Until(done); }
  void Settle() override { inner_->Settle(); }
  void End() override { inner_->End(); }
  uint64_t seed() const override { return inner_->seed(); }
  size_t LargestMessage() const override { return inner_->LargestMessage(); }
  size_t MoreThanFits() const override { return inner_->MoreThanFits(); }

  SimFabric& fabric() { return fabric_; }
  UpgradeRecord& record() { return record_; }
  SimUpgrade& client_rdma() { return *client_rdma_; }
  SimUpgrade& server_rdma() { return *server_rdma_; }
  Transport& tcp() { return inner_->transport(); }
  std::vector<std::string> log() const;
  std::vector<PastEvent> events() const { return events_.events(); }

 private:
  class Both;
  struct Log;

  const std::shared_ptr<Log> log_;
  SimFabric fabric_;
  EventRing events_;
  UpgradeRecord record_;
  // Before what is above it dies, its loops end.
  std::unique_ptr<ConformanceHarness> inner_;
  std::unique_ptr<SimUpgrade> client_rdma_;
  std::unique_ptr<SimUpgrade> server_rdma_;
  std::unique_ptr<Transport> both_;
};

}  // namespace farcall

#endif  // FARCALL_TRANSPORT_LINK_TESTING_LINK_HARNESS_H_
