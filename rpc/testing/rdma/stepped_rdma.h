// SPDX-License-Identifier: Apache-2.0
//
// Two hosts with RDMA on a FakeFabric in virtual time, in one thread: what a RdmaPair is with
// threads. Their TCP is simulated, and never fails.

#ifndef FARCALL_RPC_TESTING_RDMA_STEPPED_RDMA_H_
#define FARCALL_RPC_TESTING_RDMA_STEPPED_RDMA_H_

#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "absl/functional/function_ref.h"
#include "rpc/runtime/runtime.h"
#include "rpc/runtime/server.h"
#include "rpc/testing/log_lines.h"
#include "rpc/testing/rdma/rdma_pair.h"
#include "transport/base/event_ring.h"
#include "transport/base/threads/in_flight.h"
#include "transport/link/selecting_transport.h"
#include "transport/rdma/testing/fake_rdma.h"
#include "transport/rdma/testing/stepped_clock.h"
#include "transport/testing/sim/sim_network.h"
#include "transport/testing/sim/sim_transport.h"

namespace farcall {

// One process of the two, composed as a Runtime composes itself.
class SteppedEnd {
 public:
  SteppedEnd(const RdmaRigOptions& options, const UpgradeOptions& upgrade, SimNetwork& network,
             const SteppedClock& clock);
  SteppedEnd(const SteppedEnd&) = delete;
  SteppedEnd& operator=(const SteppedEnd&) = delete;

  Runtime& runtime() { return *runtime_; }
  RdmaRig& rig() { return rig_; }
  // Of all its channels: some may have calls under way when they are destroyed.
  int sessions() const { return sessions_.count(); }
  UpgradeCounts counts() const { return record_.counts(); }
  // Its log, and what happened to connections.
  std::string Log();
  // Its channels and servers are gone, and it has no sessions. What the pool holds still.
  size_t End();

 private:
  InFlight sessions_;
  LogLines log_;
  EventRing events_;
  RdmaRig rig_;
  SimTransport tcp_;
  UpgradeRecord record_;
  SelectingTransport transport_;
  std::unique_ptr<Runtime> runtime_;
};

// The client is at fakeA, the server at fakeB.
class SteppedRdma {
 public:
  explicit SteppedRdma(const FakeRdma::Change& change = nullptr,
                       const UpgradeOptions& upgrade = SoonAgain());
  SteppedRdma(const SteppedRdma&) = delete;
  SteppedRdma& operator=(const SteppedRdma&) = delete;
  ~SteppedRdma();

  FakeFabric& fabric() { return fake_.fabric(); }
  SteppedEnd& client() { return client_; }
  SteppedEnd& server() { return server_; }
  TimePoint now() const { return clock_.Now(); }

  // Called before each turn.
  void OnTurn(std::function<void()> on_turn) { on_turn_ = std::move(on_turn); }
  // While true the server's process makes no step, as one that was stopped: its NIC goes on, and so
  // does who listens for it.
  void HoldServer(bool held) { server_held_ = held; }
  // Turns until `done`. False: not within `limit`, or kMaxTurns turns were not enough.
  [[nodiscard]] bool Until(absl::FunctionRef<bool()> done, Duration limit);
  void RunFor(Duration span);
  // Stop waits for connections, which takes the loops' turns.
  void Stop(std::unique_ptr<Server> server);
  // What is left, by name, when everything of both ends is gone. Once.
  std::string End();

 private:
  static constexpr int kMaxTurns = 500'000;

  RdmaRigOptions OnlyOn(const char* device) const;
  bool TurnAll();
  bool Advance(TimePoint latest);

  std::function<void()> on_turn_;
  SteppedClock clock_;
  FakeRdma fake_;
  SimNetwork network_;
  SteppedEnd client_;
  SteppedEnd server_;
  bool server_held_ = false;
  bool ended_ = false;
};

}  // namespace farcall

#endif  // FARCALL_RPC_TESTING_RDMA_STEPPED_RDMA_H_
