// SPDX-License-Identifier: Apache-2.0
//
// Echo calls, client and server stepped in one thread: for callgrind, which counts the
// instructions of ClientTurn and ServerTurn. Over RDMA on a stand-in for the device, whose own
// are recognised by its names, which begin with Fake; or over TCP, through the loopback device.
//
//   rdma_echo_instructions CALLS IN_FLIGHT rdma|tcp

#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/string_view.h"
#include "benchmarks/echo/echo_service.h"
#include "rpc/channel.h"
#include "rpc/closure.h"
#include "rpc/controller.h"
#include "rpc/runtime.h"
#include "rpc/server.h"
#include "transport/base/check.h"
#include "transport/base/clock.h"
#include "transport/link/selecting_transport.h"
#include "transport/rdma/testing/fake_rdma.h"
#include "transport/rdma/testing/rdma_rig.h"
#include "transport/tcp/tcp_transport.h"

namespace farcall::bench {

// Not inlined, so that callgrind finds them by name (--toggle-collect).
[[gnu::noinline]] void ClientTurn(EventLoop& loop) { loop.RunOnce(); }
[[gnu::noinline]] void ServerTurn(EventLoop& loop) { loop.RunOnce(); }

namespace {

constexpr size_t kPayload = 32;

// A stand-in device without checks that a real one does not make.
FakeRdma::Change Lean() {
  return [](FakeFabricOptions& fabric, RdmaRigOptions& rig) {
    fabric.check_memory = false;
    rig.loops = 2;
  };
}

class World {
 public:
  World()
      : fake_(FakeMode::kImmediate, Lean()),
        rig_(fake_.rig()),
        tcp_(rig_.pool(), nullptr),
        record_(nullptr),
        transport_(tcp_, rig_.transport(), record_, UpgradeOptions()),
        client_loops_({&client_loop()}),
        server_loops_({&server_loop()}),
        client_(Runtime::On(Parts(client_loops_))),
        server_(Runtime::On(Parts(server_loops_))) {}
  ~World() { rig_.End(); }

  EventLoop& client_loop() { return rig_.loops().at(0); }
  EventLoop& server_loop() { return rig_.loops().at(1); }
  Runtime& client() { return *client_; }
  Runtime& server() { return *server_; }
  void Step() {
    rig_.Step();
    fake_.fabric().Step();
  }

 private:
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

  SteadyClock clock_;
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

// Calls one after the other, until it is stopped.
class Caller {
 public:
  Caller(Channel& channel, int& left) : stub_(&channel), left_(left) {
    request_.set_text(std::string(kPayload, 'x'));
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

int Run(int calls, int in_flight, TransportKind transport) {
  const bool use_rdma = transport == TransportKind::kRdma;
  World world;
  EchoService service;
  Server server;
  Check(server.AddService(&service, SERVER_DOESNT_OWN_SERVICE).ok(), "a service is added");
  ServerOptions server_options;
  server_options.runtime = &world.server();
  server_options.handler_threads = 0;
  server_options.use_rdma = use_rdma;
  Check(server.Start("127.0.0.1:0", server_options).ok(), "a server starts");
  ChannelOptions options;
  options.runtime = &world.client();
  options.use_rdma = use_rdma;
  options.timeout_ms = -1;
  options.connect_timeout_ms = 60'000;
  auto channel = Channel::Create(server.listen_address().ToString(), options);
  Check(channel.ok(), "a channel is made");

  int left = 0;
  std::vector<std::unique_ptr<Caller>> callers;
  for (int i = 0; i < in_flight; ++i) callers.push_back(std::make_unique<Caller>(**channel, left));
  // Until the connection is there, and has gone over to RDMA.
  for (Caller& first = *callers.front(); !first.over(transport);) {
    if (!first.busy()) first.Start();
    world.Step();
  }
  while (callers.front()->busy()) world.Step();

  left = calls - in_flight;
  for (const auto& caller : callers) caller->Start();
  const auto some_busy = [&] {
    for (const auto& caller : callers) {
      if (caller->busy()) return true;
    }
    return false;
  };
  while (some_busy()) {
    ClientTurn(world.client_loop());
    ServerTurn(world.server_loop());
  }
  const bool still = callers.front()->over(transport);
  callers.clear();
  channel->reset();
  for (int i = 0; i < 1000; ++i) world.Step();
  // Stop waits for the connections, which are gone.
  Check(server.Stop(Duration::zero()).ok(), "a server without calls stops");
  for (int i = 0; i < 1000; ++i) world.Step();
  std::printf("%d calls, %d in flight, over %s\n", calls, in_flight,
              use_rdma == still ? "rdma" : "tcp");
  return still ? 0 : 1;
}

}  // namespace
}  // namespace farcall::bench

int main(int argc, char** argv) {
  int calls = 0;
  int in_flight = 0;
  const absl::string_view over = argc == 4 ? argv[3] : "";
  if ((over != "rdma" && over != "tcp") || !absl::SimpleAtoi(argv[1], &calls) ||
      !absl::SimpleAtoi(argv[2], &in_flight) || in_flight < 1 || calls < in_flight) {
    std::fprintf(stderr, "usage: rdma_echo_instructions CALLS IN_FLIGHT rdma|tcp\n");
    return 2;
  }
  const bool rdma = over == "rdma";
  return farcall::bench::Run(calls, in_flight,
                             rdma ? farcall::TransportKind::kRdma : farcall::TransportKind::kTcp);
}
