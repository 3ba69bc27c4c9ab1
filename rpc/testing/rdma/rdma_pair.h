// SPDX-License-Identifier: Apache-2.0
//
// Two hosts with RDMA on a stand-in for devices and wire, each composed as a Runtime
// composes itself. Their TCP is the real one, on the loopback interface.

#ifndef FARCALL_RPC_TESTING_RDMA_RDMA_PAIR_H_
#define FARCALL_RPC_TESTING_RDMA_RDMA_PAIR_H_

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/string_view.h"
#include "rpc/runtime/runtime.h"
#include "rpc/session/client/session_registry.h"
#include "rpc/testing/log_lines.h"
#include "transport/base/clock.h"
#include "transport/base/event_ring.h"
#include "transport/base/threads/in_flight.h"
#include "transport/buffer/registration_cache.h"
#include "transport/link/selecting_transport.h"
#include "transport/loop/drivers/blocking_threads.h"
#include "transport/loop/drivers/loop_driver.h"
#include "transport/loop/drivers/loop_monitor.h"
#include "transport/rdma/testing/fake_rdma.h"
#include "transport/tcp/tcp_transport.h"
#include "transport/tls/tls_transport.h"

namespace farcall {

// Short pauses, so that RDMA is soon back; and no time-out that a machine under load could
// take for an answer.
UpgradeOptions SoonAgain();

// One process of the two, with threads.
class RdmaEnd {
 public:
  RdmaEnd(const RdmaRigOptions& options, const UpgradeOptions& upgrade);
  RdmaEnd(const RdmaEnd&) = delete;
  RdmaEnd& operator=(const RdmaEnd&) = delete;
  // As ~Runtime: waits for the channels' calls. The pool checks that all blocks came home.
  ~RdmaEnd();

  Runtime& runtime() { return *runtime_; }
  RdmaRegistrar& registrar() { return rig_.registrar(); }
  RegistrationCache& registrations() { return registrations_; }
  size_t used_bytes() { return rig_.pool().stats().used_bytes; }
  UpgradeCounts counts() const { return record_.counts(); }
  // It is known here as one that knows no hello of ours, as brpc.
  void TakeForBrpc(const Address& peer);
  // Threads that the loops may have made because of user code that ran for long; and each of the
  // loops one more, for code that ended just then.
  size_t spare_threads() const { return monitor_->counts().taken_over; }
  size_t loops() const { return drivers_.size(); }
  // For messages of failed tests.
  std::string Log();

 private:
  void Drive(EventLoop& loop);

  SteadyClock clock_;
  InFlight sessions_;
  SessionRegistry registry_;
  LogLines log_;
  EventRing events_;
  RdmaRig rig_;
  TcpTransport tcp_;
  TlsTransport tls_;
  UpgradeRecord record_;
  SelectingTransport transport_;
  RegistrationCache registrations_;
  std::unique_ptr<LoopMonitor> monitor_;
  std::vector<std::unique_ptr<LoopDriver>> drivers_;
  std::unique_ptr<BlockingThreads> blocking_;
  std::unique_ptr<Runtime> runtime_;
};

// The client is at fakeA, the server at fakeB. What happens late on the fabric, a thread lets
// happen. Ends with nothing left on the fabric.
class RdmaPair {
 public:
  explicit RdmaPair(const UpgradeOptions& upgrade = SoonAgain(),
                    const FakeRdma::Change& change = nullptr);
  RdmaPair(const RdmaPair&) = delete;
  RdmaPair& operator=(const RdmaPair&) = delete;
  ~RdmaPair();

  FakeFabric& fabric() { return fake_.fabric(); }
  FakeFaults& faults() { return fake_.fabric().faults(); }
  RdmaEnd& client() { return *client_; }
  RdmaEnd& server() { return *server_; }
  void EndClient() { client_.reset(); }
  void EndServer() { server_.reset(); }
  std::string Logs();

 private:
  std::unique_ptr<RdmaEnd> End(const std::string& device, const UpgradeOptions& upgrade);

  FakeRdma fake_;
  std::atomic<bool> stop_{false};
  std::thread stepper_;
  std::unique_ptr<RdmaEnd> client_;
  std::unique_ptr<RdmaEnd> server_;
};

}  // namespace farcall

#endif  // FARCALL_RPC_TESTING_RDMA_RDMA_PAIR_H_
