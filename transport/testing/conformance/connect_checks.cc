// SPDX-License-Identifier: Apache-2.0

#include <atomic>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "transport/testing/conformance/conformance_checks.h"

namespace farcall {
namespace {

void ExpectConnectFails(ConformanceRun& run, const Address& peer, const ConnectOptions& options) {
  const absl::Status status = run.TryConnect(peer, options, run.harness.loops().at(0));
  run.Expect(!status.ok(), "Connect fails");
  run.Expect(absl::StrContains(status.message(), peer.ToString()), "the error names the peer");
}

void ConnectIsRefused(ConformanceRun& run) {
  ExpectConnectFails(run, run.harness.RefusingAddress(), ConnectOptions());
}

void ConnectTimesOut(ConformanceRun& run) {
  ConnectOptions options;
  options.timeout = std::chrono::milliseconds(50);
  ExpectConnectFails(run, run.harness.SilentAddress(), options);
}

void ConnectValidatesItsOptions(ConformanceRun& run) {
  const Address peer = run.harness.RefusingAddress();
  EventLoop& loop = run.harness.loops().at(0);
  ConnectOptions options;
  options.connection.low_water = options.connection.high_water;
  run.Expect(absl::IsInvalidArgument(run.TryConnect(peer, options, loop)), "marks are validated");
  options = ConnectOptions();
  options.timeout = Duration::zero();
  run.Expect(absl::IsInvalidArgument(run.TryConnect(peer, options, loop)), "timeout is validated");
  run.Expect(absl::IsInvalidArgument(run.TryConnect(Address(), ConnectOptions(), loop)),
             "no address is an error");
}

void UnstartedConnectionsMayDie(ConformanceRun& run) {
  std::atomic<int> accepted{0};
  auto listener = run.harness.transport().Listen(
      run.harness.loops(), run.harness.FreeAddress(), ListenOptions(),
      [&](EventLoop&, std::unique_ptr<Connection>) { ++accepted; });
  if (!run.Expect(listener.ok(), "Listen works")) return;
  for (int i = 0; i < 10; ++i) {
    run.TryConnect((*listener)->address(), ConformanceRun::Patient(), run.harness.loops().at(0))
        .IgnoreError();
  }
  run.Until("all are accepted", [&] { return accepted == 10; });
}

void ConnectFromEveryLoop(ConformanceRun& run) {
  for (size_t loop = 0; loop < run.harness.loops().size(); ++loop) {
    ConformanceRun::Setup setup;
    setup.client_loop = loop;
    const auto duo = run.Connect(setup);
    if (duo == nullptr) return;
    run.Expect(duo->client.loop() == &run.harness.loops().at(loop), "the loop was asked for");
    duo->client.Send(1000);
    duo->server.Send(1000);
    run.Until("all bytes arrive", [&] {
      return duo->client.seen().received == 1000 && duo->server.seen().received == 1000;
    });
  }
}

// Written at once, when the other side has not started or is not even accepted yet.
void FirstBytesAreNotLost(ConformanceRun& run) {
  ConformanceRun::Setup setup;
  setup.prepare = [](Duo& duo) {
    duo.client.on_start = [](TestPeer& client) { client.Send(10); };
    duo.server.on_start = [](TestPeer& server) { server.Send(20); };
  };
  for (int i = 0; i < 20; ++i) {
    const auto duo = run.Connect(setup);
    if (duo == nullptr) return;
    run.Until("all bytes arrive", [&] {
      return duo->client.seen().received == 20 && duo->server.seen().received == 10;
    });
  }
}

void InfoShowsEndsAndCounts(ConformanceRun& run) {
  const auto duo = run.Connect();
  if (duo == nullptr) return;
  duo->client.Send(10000);
  run.Until("all bytes arrive", [&] { return duo->server.seen().received == 10000; });
  const ConnectionInfo client = duo->client.info();
  const ConnectionInfo server = duo->server.info();
  run.Expect(client.peer == duo->listener->address(), "the peer is the one that was asked for");
  run.Expect(server.local == duo->listener->address(), "the accepted end is the listener's");
  run.Expect(client.local == server.peer, "one's local address is the other's peer");
  run.Expect(client.transport == server.transport, "both are of one kind");
  run.Expect(client.why_not_rdma == server.why_not_rdma, "for one reason");
  run.Expect(client.bytes_written == 10000 && client.writes >= 1, "writes are counted");
  run.Expect(server.bytes_read == 10000 && server.reads >= 1, "reads are counted");
  run.Expect(client.bytes_read == 0 && server.bytes_written == 0, "and nothing else");
}

}  // namespace

std::vector<ConformanceCheck> ConnectChecks() {
  return {
      {"ConnectIsRefused", ConnectIsRefused},
      {"ConnectTimesOut", ConnectTimesOut},
      {"ConnectValidatesItsOptions", ConnectValidatesItsOptions},
      {"UnstartedConnectionsMayDie", UnstartedConnectionsMayDie},
      {"ConnectFromEveryLoop", ConnectFromEveryLoop},
      {"FirstBytesAreNotLost", FirstBytesAreNotLost},
      {"InfoShowsEndsAndCounts", InfoShowsEndsAndCounts},
  };
}

}  // namespace farcall
