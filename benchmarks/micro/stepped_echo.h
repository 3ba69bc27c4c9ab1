// SPDX-License-Identifier: Apache-2.0
//
// Echo calls of client and server whose loops the program steps itself, over RDMA on a stand-in for
// the device, or over TCP through the loopback device.

#ifndef FARCALL_BENCHMARKS_MICRO_STEPPED_ECHO_H_
#define FARCALL_BENCHMARKS_MICRO_STEPPED_ECHO_H_

#include <cstddef>
#include <cstdio>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"
#include "benchmarks/echo/echo_service.h"
#include "rpc/closure.h"
#include "rpc/controller.h"
#include "rpc/runtime/channel.h"
#include "rpc/runtime/runtime.h"
#include "rpc/runtime/server.h"
#include "transport/base/check.h"
#include "transport/base/clock.h"
#include "transport/link/selecting_transport.h"
#include "transport/rdma/testing/fake_rdma.h"
#include "transport/rdma/testing/rdma_rig.h"
#include "transport/tcp/tcp_transport.h"

namespace farcall::bench {

// A runtime of so many loops for clients, and one for servers. The thread that steps a loop is the
// only one that touches it. `clock` null: CLOCK_MONOTONIC.
class SteppedWorld {
 public:
  explicit SteppedWorld(int loops = 1, const Clock* clock = nullptr)
      : clock_(clock != nullptr ? *clock : steady_),
        fake_(FakeMode::kImmediate, Lean(2 * loops)),
        rig_(fake_.rig()),
        tcp_(rig_.pool(), nullptr),
        record_(nullptr),
        transport_(tcp_, rig_.transport(), record_, UpgradeOptions()),
        client_loops_(Loops(0, loops)),
        server_loops_(Loops(loops, loops)),
        client_(Runtime::On(Parts(client_loops_))),
        server_(Runtime::On(Parts(server_loops_))) {}
  ~SteppedWorld() { rig_.End(); }

  EventLoop& client_loop(size_t i = 0) { return client_loops_.at(i); }
  EventLoop& server_loop(size_t i = 0) { return server_loops_.at(i); }
  Runtime& client() { return *client_; }
  Runtime& server() { return *server_; }
  // A turn of each loop, and of the stand-in.
  void Step() {
    rig_.Step();
    fake_.fabric().Step();
  }
  // The same without the loops of clients and servers.
  void StepHost() {
    rig_.control().RunOnce();
    fake_.fabric().Step();
  }

 private:
  // Without the checks of the stand-in that a real device does not make.
  FakeRdma::Change Lean(int loops) {
    return [this, loops](FakeFabricOptions& fabric, RdmaRigOptions& rig) {
      fabric.check_memory = false;
      rig.loops = loops;
      rig.clock = &clock_;
    };
  }
  std::vector<EventLoop*> Loops(int first, int count) {
    std::vector<EventLoop*> loops;
    for (int i = first; i < first + count; ++i) {
      loops.push_back(&rig_.loops().at(static_cast<size_t>(i)));
    }
    return loops;
  }
  RuntimeParts Parts(LoopGroup& loops) {
    RuntimeParts parts;
    parts.clock = &clock_;
    parts.loops = &loops;
    parts.transport = &transport_;
    parts.pool = &rig_.pool();
    parts.run_blocking = [](std::function<void()>) { return false; };
    parts.log = [](LogSeverity, absl::string_view line) {
      std::fprintf(stderr, "%.*s\n", static_cast<int>(line.size()), line.data());
    };
    return parts;
  }

  SteadyClock steady_;
  const Clock& clock_;
  FakeRdma fake_;
  RdmaRig rig_;
  TcpTransport tcp_;
  UpgradeRecord record_;
  SelectingTransport transport_;
  LoopGroup client_loops_;
  LoopGroup server_loops_;
  std::unique_ptr<Runtime> client_;
  std::unique_ptr<Runtime> server_;
};

// An echo of 32 bytes; another one when it has ended, while any are `left`. On cache lines of its
// own: the next caller may be another loop's.
class alignas(64) EchoCaller {
 public:
  EchoCaller(Channel& channel, int& left) : stub_(&channel), left_(left) {
    request_.set_text(std::string(32, 'x'));
    // Longer than a cache line: texts that lie side by side may be those of two loops.
    response_.mutable_text()->reserve(128);
  }
  void Start() {
    controller_.Reset();
    busy_ = true;
    stub_.Call(&controller_, &request_, &response_, NewClosure([this] { OnDone(); }));
  }
  bool busy() const { return busy_; }
  bool over(TransportKind transport) const {
    return controller_.connection() != nullptr && controller_.connection()->transport == transport;
  }

 private:
  void OnDone() {
    Check(!controller_.Failed(), "an echo is answered");
    busy_ = false;
    if (left_-- > 0) Start();
  }

  Echo_Stub stub_;
  Controller controller_;
  EchoRequest request_;
  EchoResponse response_;
  int& left_;
  bool busy_ = false;
};

inline std::unique_ptr<Channel> MakeEchoChannel(SteppedWorld& world, const Server& server,
                                                TransportKind transport, int loops = 1) {
  ChannelOptions options;
  options.runtime = &world.client();
  options.event_loops = loops;
  options.use_rdma = transport == TransportKind::kRdma;
  options.timeout_ms = -1;
  options.connect_timeout_ms = 60'000;
  auto channel = Channel::Create(server.listen_address().ToString(), options);
  Check(channel.ok(), "a channel is made");
  return *std::move(channel);
}

// Calls of a channel, which outlives them.
class alignas(64) EchoCalls {
 public:
  EchoCalls(Channel& channel, int in_flight) {
    for (int i = 0; i < in_flight; ++i) {
      callers_.push_back(std::make_unique<EchoCaller>(channel, left_));
    }
  }

  // Makes single calls until the connection is there, and has gone over to `transport`.
  template <typename Step>
  void Connect(TransportKind transport, const Step& step) {
    for (EchoCaller& first = *callers_.front(); !first.over(transport);) {
      if (!first.busy()) first.Start();
      step();
    }
    while (busy()) step();
  }
  // Begins `calls` of them, as many at a time as are in flight.
  void Start(int calls) {
    left_ = calls - static_cast<int>(callers_.size());
    for (const auto& caller : callers_) caller->Start();
  }
  bool busy() const {
    for (const auto& caller : callers_) {
      if (caller->busy()) return true;
    }
    return false;
  }
  // Calls that have not begun; below zero, as many have ended without a next one.
  int left() const { return left_; }
  bool over(TransportKind transport) const { return callers_.front()->over(transport); }

 private:
  int left_ = 0;
  std::vector<std::unique_ptr<EchoCaller>> callers_;
};

inline void StartEchoServer(SteppedWorld& world, EchoService& service, Server& server,
                            TransportKind transport) {
  Check(server.AddService(&service, SERVER_DOESNT_OWN_SERVICE).ok(), "a service is added");
  ::farcall::ServerOptions options;
  options.runtime = &world.server();
  options.handler_threads = 0;
  options.use_rdma = transport == TransportKind::kRdma;
  Check(server.Start("127.0.0.1:0", options).ok(), "a server starts");
}

// After the last channel is gone.
inline void StopEchoServer(SteppedWorld& world, Server& server) {
  for (int i = 0; i < 1000; ++i) world.Step();
  // Stop waits for the connections, which are gone.
  Check(server.Stop(Duration::zero()).ok(), "a server without calls stops");
  for (int i = 0; i < 1000; ++i) world.Step();
}

}  // namespace farcall::bench

#endif  // FARCALL_BENCHMARKS_MICRO_STEPPED_ECHO_H_
