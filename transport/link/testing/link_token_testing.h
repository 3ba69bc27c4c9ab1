// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_TRANSPORT_LINK_TESTING_LINK_TOKEN_TESTING_H_
#define FARCALL_TRANSPORT_LINK_TESTING_LINK_TOKEN_TESTING_H_

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "gtest/gtest.h"
#include "transport/link/hello/hello.h"
#include "transport/link/stream/frames/frame.h"
#include "transport/link/stream/switching_stream.h"
#include "transport/link/testing/link_harness.h"
#include "transport/link/testing/raw_peer.h"
#include "transport/link/upgrade/upgrade_messages.h"
#include "transport/testing/sim/sim_harness.h"
#include "transport/why_not_rdma.h"

namespace farcall {

// A client that speaks link frames by hand.
class LinkTokenTest : public testing::Test {
 protected:
  explicit LinkTokenTest(const ListenOptions& options = {})
      : harness_(std::make_unique<SimHarness>(1), Variant()) {
    server_ = std::make_unique<RawServer>(
        harness_, harness_.transport(), [](RawPeer&) {}, options);
    client_ = NewClient();
  }

  static LinkVariant Variant() {
    LinkVariant variant = LinkVariant::Of(1);
    variant.fabric.dead_addresses = 1;
    return variant;
  }
  std::unique_ptr<RawPeer> NewClient() {
    auto client = RawPeer::Connect(harness_, harness_.tcp(), server_->address());
    client->Send(EncodeHello(MakeHello(1 << 16)));
    EXPECT_TRUE(harness_.Until([&] { return client->received.size() >= kHelloLeast; }));
    client->received.erase(0, kHelloLeast);
    return client;
  }

  std::string Bytes(LinkFrame frame) {
    return LinkFrameWriter(harness_.pool()).Encode(std::move(frame)).ToString();
  }
  void Send(RawPeer& client, LinkFrame frame) { client.Send(Bytes(std::move(frame))); }
  std::string AskFor(uint32_t generation, absl::string_view credential = "") {
    return Bytes(
        {.type = LinkFrameType::kUpgradeAsk,
         .payload = Buffer(EncodeAsk(generation, NotRdma(WhyNotRdma::kPending, ""), credential))});
  }
  void Ask(RawPeer& client, uint32_t generation) { client.Send(AskFor(generation)); }
  // The next frame that has to do with upgrades, but no RESUME.
  LinkFrame Next(RawPeer& client) {
    LinkFrame frame;
    const bool came = harness_.Until([&] {
      Buffer input(client.received);
      for (;;) {
        const auto cut = CutLinkFrame(input, frame);
        if (!cut.ok() || *cut > 0) return false;
        client.received = input.ToString();
        if (IsUpgrade(frame.type)) return true;
      }
    });
    EXPECT_TRUE(came);
    return frame;
  }
  OfferMessage NextOffer(RawPeer& client) {
    const LinkFrame frame = Next(client);
    EXPECT_EQ(frame.type, LinkFrameType::kUpgradeOffer);
    const auto offer = ParseOffer(frame.payload.ToString());
    EXPECT_TRUE(offer.ok());
    return offer.ok() ? *offer : OfferMessage();
  }

  DeclineMessage NextDecline(RawPeer& client) {
    const LinkFrame frame = Next(client);
    EXPECT_EQ(frame.type, LinkFrameType::kUpgradeDecline);
    const auto decline = ParseDecline(frame.payload.ToString());
    EXPECT_TRUE(decline.ok());
    return decline.ok() ? *decline : DeclineMessage();
  }

  // How a dial with `pass` ends.
  absl::Status ConnectToOffer(const UpgradePass& pass,
                              const std::vector<UpgradeAddress>& addresses) {
    std::optional<absl::Status> result;
    EventLoop& loop = harness_.loops().at(0);
    std::unique_ptr<UpgradeTicket> ticket;
    harness_.Run(loop, [&] {
      ticket = harness_.client_rdma().ConnectToOffer(
          loop, addresses, pass, OfferConnectOptions(), nullptr,
          [&](absl::StatusOr<std::unique_ptr<Connection>> connection) {
            result = connection.status();
            if (connection.ok()) connected_ = *std::move(connection);
          });
    });
    EXPECT_TRUE(harness_.Until([&] { return result.has_value(); }));
    harness_.Run(loop, [&] { ticket.reset(); });
    return result.value_or(absl::UnknownError("nothing"));
  }

  ~LinkTokenTest() override {
    harness_.Run(harness_.loops().at(0), [&] { connected_.reset(); });
    client_.reset();
    server_.reset();
    EXPECT_TRUE(harness_.Until([&] { return harness_.pool().stats().used_bytes == 0; }));
  }

  LinkHarness harness_;
  std::unique_ptr<RawServer> server_;
  std::unique_ptr<RawPeer> client_;
  std::unique_ptr<Connection> connected_;
};

}  // namespace farcall

#endif  // FARCALL_TRANSPORT_LINK_TESTING_LINK_TOKEN_TESTING_H_
