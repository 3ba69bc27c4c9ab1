// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_TRANSPORT_LINK_TESTING_LINK_BRPC_TESTING_H_
#define FARCALL_TRANSPORT_LINK_TESTING_LINK_BRPC_TESTING_H_

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "absl/strings/string_view.h"
#include "gtest/gtest.h"
#include "transport/base/check.h"
#include "transport/brpc/hello.h"
#include "transport/link/testing/brpc_rdma_harness.h"
#include "transport/link/testing/raw_peer.h"
#include "transport/rdma/testing/brpc_verbs_end.h"

namespace farcall {

using SteppedBrpc = BrpcRdmaHarness<SteppedRdmaHarness>;

inline UpgradeOptions PreferBrpc() {
  UpgradeOptions options = SteppedBrpc::Options();
  options.require_rdma = false;
  return options;
}

// A farcall server, and a client that does by hand what brpc does.
class BrpcClientRig {
 public:
  explicit BrpcClientRig(const BrpcVerbsEnd::Options& end_options = {},
                         const UpgradeOptions& options = PreferBrpc(),
                         const FakeRdma::Change& change = nullptr, const ListenOptions& listen = {})
      : harness(FakeMode::kStepped, options, change),
        server(
            harness, harness.link(), [](RawPeer&) {}, listen),
        end(std::make_unique<BrpcVerbsEnd>(harness.fabric(), end_options)) {
    Check(end->Make(), "the stand-in makes a queue pair");
    tcp = RawPeer::Connect(harness, harness.tcp(), server.address());
  }
  ~BrpcClientRig() {
    tcp.reset();
    server.peers.clear();
    harness.Settle();
    end.reset();
    for (const char* device : {"fakeA", "fakeB"}) {
      EXPECT_EQ(harness.fabric().counters(device).rnrs, 0u);
    }
  }

  bool Until(const std::function<bool()>& done) {
    return harness.Until([&] {
      end->Poll();
      return done();
    });
  }
  // What the server answers to `hello`.
  std::optional<BrpcHello> Ask(const std::string& hello) {
    tcp->Send(hello);
    BrpcHello answer;
    const bool whole = Until([&] {
      Buffer input(tcp->received);
      const absl::StatusOr<size_t> need = CutBrpcHello(input, answer);
      if (!need.ok() || *need != 0) return tcp->closed.has_value();
      tcp->received = input.ToString();
      return true;
    });
    if (!whole || tcp->closed) return std::nullopt;
    return answer;
  }
  // Up to the decision, which is not sent yet.
  bool Join(BrpcVersion version = BrpcVersion::kSecond) {
    const auto answer = Ask(EncodeBrpcHello(version, end->own()));
    if (!answer || !answer->usable.ok() || answer->version != version) return false;
    peer = answer->end;
    return end->Join(peer) == 0;
  }
  bool Open(BrpcVersion version = BrpcVersion::kSecond) {
    if (!Join(version)) return false;
    tcp->Send(EncodeBrpcDecision(true));
    return Until([&] { return accepted().info().transport == TransportKind::kRdma; });
  }
  RawPeer& accepted() { return *server.peers.at(0); }
  // The server's connection ends with this reason, and so does the client's TCP connection.
  void ExpectBreach(absl::string_view why) {
    ASSERT_TRUE(Until([&] { return accepted().closed && tcp->closed; }));
    EXPECT_NE(accepted().closed->message().find(std::string(why)), std::string::npos)
        << *accepted().closed;
  }

  SteppedBrpc harness;
  RawServer server;
  std::unique_ptr<BrpcVerbsEnd> end;
  std::unique_ptr<RawPeer> tcp;
  BrpcEnd peer;
};

}  // namespace farcall

#endif  // FARCALL_TRANSPORT_LINK_TESTING_LINK_BRPC_TESTING_H_
