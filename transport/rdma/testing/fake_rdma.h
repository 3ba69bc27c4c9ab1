// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_TRANSPORT_RDMA_TESTING_FAKE_RDMA_H_
#define FARCALL_TRANSPORT_RDMA_TESTING_FAKE_RDMA_H_

#include <atomic>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "transport/rdma/testing/fabric/fake_fabric.h"
#include "transport/rdma/testing/rdma_harness.h"

namespace farcall {

// A FakeFabric and what an RdmaTransport over it needs. The third device is cut off: no one
// there answers.
class FakeRdma {
 public:
  using Change = std::function<void(FakeFabricOptions&, RdmaRigOptions&)>;

  // Two hosts and a silent one, 10.9.0.1 to .3, in one process, whose queue pairs rdma_cm sets up.
  // `change` changes them.
  explicit FakeRdma(FakeMode mode, const Change& change = nullptr, bool ipv6 = false);

  FakeFabric& fabric() { return *fabric_; }
  const RdmaRigOptions& rig() const { return rig_; }
  const RdmaPlaces& places() const { return places_; }
  // As for want of descriptors: the host cannot read its addresses. Any thread.
  void SetAddressesUnreadable(bool unreadable) { *unreadable_ = unreadable; }
  std::function<bool()> step() {
    return [this] { return fabric_->Step(); };
  }

 private:
  const std::shared_ptr<std::atomic<bool>> unreadable_ = std::make_shared<std::atomic<bool>>(false);
  RdmaRigOptions rig_;
  RdmaPlaces places_;
  std::unique_ptr<FakeFabric> fabric_;
};

struct FakeRdmaHolder {
  std::unique_ptr<FakeRdma> held;
};

// A harness with its own fabric, which ends after it and finds everything freed.
template <typename Harness>
class OverFake final : private FakeRdmaHolder, public Harness {
 public:
  explicit OverFake(FakeMode mode, const FakeRdma::Change& change = nullptr, bool ipv6 = false)
      : OverFake(std::make_unique<FakeRdma>(mode, change, ipv6)) {}

  FakeRdma& fake() { return *held; }
  FakeFabric& fabric() { return held->fabric(); }

 private:
  explicit OverFake(std::unique_ptr<FakeRdma> fake) : OverFake(*fake, fake) {}
  OverFake(FakeRdma& fake, std::unique_ptr<FakeRdma>& owner)
      : FakeRdmaHolder{std::move(owner)}, Harness(fake.rig(), fake.places(), fake.step()) {}
};

}  // namespace farcall

#endif  // FARCALL_TRANSPORT_RDMA_TESTING_FAKE_RDMA_H_
