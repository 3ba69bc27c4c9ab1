// SPDX-License-Identifier: Apache-2.0
//
// Queue pairs on brpc's wire without a device: what travels does so in the simulated network, each
// step takes a while and may fail, and the end of one side is not reported to the other.

#ifndef FARCALL_TRANSPORT_LINK_TESTING_SIM_BRPC_H_
#define FARCALL_TRANSPORT_LINK_TESTING_SIM_BRPC_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>

#include "absl/functional/any_invocable.h"
#include "transport/loop/event_loop.h"
#include "transport/testing/sim/sim_connection.h"
#include "transport/testing/sim/sim_port.h"
#include "transport/testing/test_random.h"
#include "transport/upgrade.h"

namespace farcall {

class SimFabric;

// Those of a fabric, by their numbers. In virtual time, and so in one thread.
class SimBrpcPairs {
 public:
  struct One {
    std::shared_ptr<SimPort> port;
    bool joined = false;
    bool opened = false;
  };

  uint32_t Add(std::shared_ptr<One> one);
  void Remove(uint32_t number) { pairs_.erase(number); }
  // Null: it is gone.
  std::shared_ptr<One> Find(uint32_t number) const;
  size_t size() const { return pairs_.size(); }

  // As those of brpc: they send by RDMA before the server has read their decision.
  bool hasty_clients = false;
  std::string breach;  // the first one

 private:
  uint32_t last_ = 0;
  std::map<uint32_t, std::shared_ptr<One>> pairs_;
};

// By the chances of SimUpgradeOptions: no_offer, it is never made; no_capacity, it cannot be;
// refuse, it cannot join or open. May die in its callbacks.
class SimBrpcPair final : public BrpcPair {
 public:
  SimBrpcPair(EventLoop& loop, SimFabric& fabric, BlockPool& pool, const BrpcWish& wish,
              UpgradeTransport::OnBrpcEnd made);
  SimBrpcPair(const SimBrpcPair&) = delete;
  SimBrpcPair& operator=(const SimBrpcPair&) = delete;
  ~SimBrpcPair() override;

  void Join(const BrpcEnd& peer, OnJoin done) override;
  void Open(Transport::OnConnect done) override;
  void EndOfPeer() override;

 private:
  void After(absl::AnyInvocable<void()> work);
  bool Fails(double chance);
  void Meet(const BrpcEnd& peer);
  void CheckOrder();

  EventLoop& loop_;
  SimFabric& fabric_;
  BlockPool& pool_;
  const BrpcWish wish_;
  TestRandom random_;
  const std::shared_ptr<SimBrpcPairs::One> own_ = std::make_shared<SimBrpcPairs::One>();
  const uint32_t number_;
  uint32_t peer_ = 0;
  std::shared_ptr<SimPort> peer_port_;
  std::unique_ptr<SimConnection> connection_;  // until it is opened
  absl::AnyInvocable<void()> next_;
  Timer timer_;
};

}  // namespace farcall

#endif  // FARCALL_TRANSPORT_LINK_TESTING_SIM_BRPC_H_
