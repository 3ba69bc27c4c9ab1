// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_TRANSPORT_LINK_TESTING_BRPC_RDMA_HARNESS_H_
#define FARCALL_TRANSPORT_LINK_TESTING_BRPC_RDMA_HARNESS_H_

#include <chrono>
#include <memory>
#include <utility>
#include <vector>

#include "transport/link/link_transport.h"
#include "transport/rdma/testing/fake_rdma.h"
#include "transport/tcp/tcp_transport.h"
#include "transport/tcp/testing/blocked_listener.h"
#include "transport/testing/conformance/conformance_harness.h"

namespace farcall {

// Takes all peers for brpc.
class ToBrpc final : public Transport {
 public:
  ToBrpc(Transport& link, UpgradeRecord& record) : link_(link), record_(record) {}

  void Connect(EventLoop& loop, const Address& peer, const ConnectOptions& options,
               OnConnect done) override {
    ConnectOptions to_brpc = options;
    to_brpc.peers_may_be_brpc = true;
    record_.RememberNoHello(peer.ToString());
    record_.RememberSilent(peer.ToString(), loop.now(), loop.now() + std::chrono::hours(1));
    link_.Connect(loop, peer, to_brpc, std::move(done));
  }
  absl::StatusOr<std::unique_ptr<Listener>> Listen(LoopGroup& loops, const Address& address,
                                                   const ListenOptions& options,
                                                   OnAccept on_accept) override {
    return link_.Listen(loops, address, options, std::move(on_accept));
  }

 private:
  Transport& link_;
  UpgradeRecord& record_;
};

// Connections on brpc's wire between the two ends of one process, over TCP of the loopback
// interface and the real RdmaTransport on a FakeFabric. `Rdma` is SteppedRdmaHarness or
// DrivenRdmaHarness.
template <typename Rdma>
class BrpcRdmaHarness final : public ConformanceHarness {
 public:
  explicit BrpcRdmaHarness(FakeMode mode, const UpgradeOptions& options = Options(),
                           const FakeRdma::Change& change = nullptr)
      : record_(nullptr),
        rdma_(mode,
              [change](FakeFabricOptions& fabric, RdmaRigOptions& rig) {
                rig.rdma.set_up = RdmaSetUp::kAuto;
                // The third one is cut off.
                rig.rdma.devices = {"fakeA", "fakeB"};
                if (change) change(fabric, rig);
              }),
        tcp_(rdma_.pool(), nullptr),
        link_(tcp_, &rdma_.rig().transport(), record_, options),
        to_brpc_(link_, record_) {}
  ~BrpcRdmaHarness() override { End(); }

  static UpgradeOptions Options() {
    UpgradeOptions options;
    options.require_rdma = true;
    // A machine that is busy elsewhere is no dead peer.
    options.probe_timeout = options.hello_timeout = options.sniff_timeout =
        options.require_timeout = options.upgrade.answer = options.upgrade.dial =
            std::chrono::seconds(60);
    return options;
  }

  Transport& transport() override { return to_brpc_; }
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
  size_t MoreThanFits() const override { return size_t{12} << 20; }

  UpgradeRecord& record() { return record_; }
  FakeFabric& fabric() { return rdma_.fabric(); }
  Transport& tcp() { return tcp_; }
  Transport& link() { return link_; }

 private:
  bool ended_ = false;
  UpgradeRecord record_;
  OverFake<Rdma> rdma_;
  TcpTransport tcp_;
  LinkTransport link_;
  ToBrpc to_brpc_;
  std::vector<std::unique_ptr<BlockedListener>> silent_;
};

}  // namespace farcall

#endif  // FARCALL_TRANSPORT_LINK_TESTING_BRPC_RDMA_HARNESS_H_
