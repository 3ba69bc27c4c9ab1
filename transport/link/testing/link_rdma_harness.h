// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_TRANSPORT_LINK_TESTING_LINK_RDMA_HARNESS_H_
#define FARCALL_TRANSPORT_LINK_TESTING_LINK_RDMA_HARNESS_H_

#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "transport/link/link_transport.h"
#include "transport/rdma/testing/fake_rdma.h"
#include "transport/tcp/tcp_transport.h"
#include "transport/tcp/testing/blocked_listener.h"
#include "transport/testing/conformance/conformance_harness.h"

namespace farcall {

// Links between the two ends of one process over TCP of the loopback interface, upgraded to
// the real RdmaTransport: that of SteppedRdmaHarness or DrivenRdmaHarness, on real devices or
// OverFake.
template <typename Rdma>
class LinkRdmaHarness final : public ConformanceHarness {
 public:
  // `rdma`: what the harness is made of.
  template <typename... Arguments>
  explicit LinkRdmaHarness(const UpgradeOptions& options, Arguments&&... rdma)
      : record_(nullptr),
        rdma_(std::forward<Arguments>(rdma)...),
        tcp_(rdma_.pool(), nullptr),
        link_(tcp_, &rdma_.rig().transport(), record_, options) {}
  ~LinkRdmaHarness() override { End(); }

  Transport& transport() override { return link_; }
  LoopGroup& loops() override { return rdma_.loops(); }
  BlockPool& pool() override { return rdma_.pool(); }
  Address FreeAddress() override { return Address::Ipv4({127, 0, 0, 1}, 0); }
  Address RefusingAddress() override { return ClosedAddress(FreeAddress()); }
  Address SilentAddress() override {
    silent_.push_back(std::make_unique<BlockedListener>(FreeAddress()));
    return silent_.back()->address();
  }
  void Run(EventLoop& loop, absl::FunctionRef<void()> work) override { rdma_.Run(loop, work); }
  bool Until(absl::FunctionRef<bool()> done) override { return rdma_.Until(done); }
  void Settle() override { rdma_.Settle(); }
  void End() override {
    if (std::exchange(ended_, true)) return;
    rdma_.Settle();
    rdma_.End();
  }
  size_t LargestMessage() const override { return size_t{2} << 20; }
  // More than the windows of LinkRdmaOptions.
  size_t MoreThanFits() const override { return size_t{12} << 20; }

  UpgradeRecord& record() { return record_; }
  FakeFabric& fabric() { return rdma_.fabric(); }

 private:
  bool ended_ = false;
  UpgradeRecord record_;
  Rdma rdma_;
  TcpTransport tcp_;
  LinkTransport link_;
  std::vector<std::unique_ptr<BlockedListener>> silent_;
};

}  // namespace farcall

#endif  // FARCALL_TRANSPORT_LINK_TESTING_LINK_RDMA_HARNESS_H_
