// SPDX-License-Identifier: Apache-2.0
//
// Echo calls, client and server stepped in one thread: for callgrind, which counts the
// instructions of ClientTurn and ServerTurn. Over RDMA on a stand-in for the device, whose own
// are recognised by its names, which begin with Fake; or over TCP, through the loopback device.
//
//   rdma_echo_instructions CALLS IN_FLIGHT rdma|tcp
//
// Prints how many calls those turns made: CALLS, and fewer than IN_FLIGHT beside them. Calls before
// and after them set up what stays, and are in no count.

#include <algorithm>
#include <cstdio>
#include <memory>
#include <optional>

#include "absl/strings/numbers.h"
#include "absl/strings/string_view.h"
#include "benchmarks/micro/stepped_echo.h"

namespace farcall::bench {

// Not inlined, so that callgrind finds them by name (--toggle-collect).
[[gnu::noinline]] void ClientTurn(EventLoop& loop) { loop.RunOnce(); }
[[gnu::noinline]] void ServerTurn(EventLoop& loop) { loop.RunOnce(); }

namespace {

// What grows and stays has grown after so many calls.
constexpr int kFirstCalls = 500;
constexpr int kFirstCallsEach = 20;  // of those in flight

int Run(int calls, int in_flight, TransportKind transport) {
  SteppedWorld world;
  EchoService service;
  Server server;
  StartEchoServer(world, service, server, transport);
  std::unique_ptr<Channel> channel = MakeEchoChannel(world, server, transport);
  std::optional<EchoCalls> echo(std::in_place, *channel, in_flight);
  echo->Connect(transport, [&] { world.Step(); });
  // Not counted: the first calls, and the last ones, after which none begins.
  echo->Start(std::max(kFirstCalls, kFirstCallsEach * in_flight) + calls + in_flight);
  while (echo->left() > calls) {
    world.client_loop().RunOnce();
    world.server_loop().RunOnce();
  }
  int counted = echo->left();
  while (echo->left() > 0) {
    ClientTurn(world.client_loop());
    ServerTurn(world.server_loop());
  }
  counted -= echo->left();
  while (echo->busy()) world.Step();
  const bool still = echo->over(transport);
  echo.reset();
  channel.reset();
  StopEchoServer(world, server);
  std::printf("%d calls, %d in flight, over %s\n", counted, in_flight,
              (transport == TransportKind::kRdma) == still ? "rdma" : "tcp");
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
