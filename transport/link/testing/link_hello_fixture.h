// SPDX-License-Identifier: Apache-2.0
//
// Peers that know no hello, or half of one: whole connections in virtual time.

#ifndef FARCALL_TRANSPORT_LINK_TESTING_LINK_HELLO_FIXTURE_H_
#define FARCALL_TRANSPORT_LINK_TESTING_LINK_HELLO_FIXTURE_H_

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "transport/link/hello/hello.h"
#include "transport/link/link_transport.h"
#include "transport/link/stream/frames/frame.h"
#include "transport/link/testing/link_harness.h"
#include "transport/link/testing/raw_peer.h"
#include "transport/testing/conformance/conformance_run.h"
#include "transport/testing/sim/sim_harness.h"
#include "transport/upgrade.h"
#include "transport/why_not_rdma.h"

namespace farcall {

class LinkHelloTest : public testing::Test {
 protected:
  using milliseconds = std::chrono::milliseconds;
  using seconds = std::chrono::seconds;

  LinkHelloTest() : LinkHelloTest(LinkVariant::Of(1)) {}
  explicit LinkHelloTest(const LinkVariant& variant)
      : harness_(std::make_unique<SimHarness>(1), variant), run_(harness_) {}
  ~LinkHelloTest() override {
    client_.reset();
    EXPECT_TRUE(harness_.Until([&] { return harness_.pool().stats().used_bytes == 0; }));
    for (const std::string& violation : run_.violations()) ADD_FAILURE() << violation;
  }

  TimePoint Now() { return harness_.loops().at(0).clock().Now(); }
  void WaitFor(Duration time) {
    const TimePoint end = Now() + time;
    while (Now() < end) harness_.Settle();
  }

  // A client of the link, which sends "PRPC..." as soon as it may.
  absl::Status Connect(const Address& peer, Duration timeout = seconds(1),
                       std::optional<WhyNotRdma> instead_of = std::nullopt) {
    ConnectOptions options;
    options.timeout = timeout;
    options.instead_of = instead_of;
    client_ = nullptr;
    EventLoop& loop = harness_.loops().at(0);
    return run_.TryConnect(peer, options, loop, [&](std::unique_ptr<Connection> connection) {
      info_ = connection->info();
      client_ = std::make_unique<RawPeer>(harness_, loop, std::move(connection));
      client_->Send("PRPC-call");
    });
  }

  // A server of the link with a handler that echoes.
  std::unique_ptr<RawServer> Serve() {
    return std::make_unique<RawServer>(harness_, harness_.transport(), [](RawPeer& server) {
      server.on_read = [](RawPeer& self) { self.Send(std::exchange(self.received, "")); };
    });
  }

  // Of an attempt to replace a plain connection, which is one for that reason.
  absl::Status Replace(const Address& peer, WhyNotRdma reason) {
    return Connect(peer, seconds(1), reason);
  }

  LinkHarness harness_;
  ConformanceRun run_;
  ConnectionInfo info_;
  std::unique_ptr<RawPeer> client_;
};

}  // namespace farcall

#endif  // FARCALL_TRANSPORT_LINK_TESTING_LINK_HELLO_FIXTURE_H_
