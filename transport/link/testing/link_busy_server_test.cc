// SPDX-License-Identifier: Apache-2.0
//
// A server that is busy for longer than a hello may take is taken for another program only by
// those who never heard it answer one.

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "gtest/gtest.h"
#include "transport/link/hello/hello.h"
#include "transport/link/testing/link_harness.h"
#include "transport/link/testing/raw_peer.h"
#include "transport/loop/event_loop.h"
#include "transport/testing/sim/sim_harness.h"
#include "transport/why_not_rdma.h"

namespace farcall {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

class LinkBusyServerTest : public testing::Test {
 protected:
  LinkBusyServerTest() : harness_(std::make_unique<SimHarness>(1), LinkVariant::Of(1)) {}
  ~LinkBusyServerTest() override {
    peers_.clear();
    server_.peers.clear();
    EXPECT_TRUE(harness_.Until([&] { return harness_.pool().stats().used_bytes == 0; }));
  }

  // The server answers the hello on its connection `i`, whether or not anybody waits.
  void Answer(size_t i) {
    ASSERT_TRUE(harness_.Until(
        [&] { return server_.peers.size() > i && !server_.peers[i]->received.empty(); }));
    link::HelloAnswer answer;
    answer.set_version(kLinkVersion);
    answer.set_window(1 << 16);
    server_.peers[i]->Send(EncodeAnswer(answer));
  }
  void WaitFor(Duration time) {
    const TimePoint end = loop_.clock().Now() + time;
    while (loop_.clock().Now() < end) harness_.Settle();
  }
  // With `instead_of` it fails, and no peer of its own comes of it.
  void Connect(std::optional<WhyNotRdma> instead_of = std::nullopt) {
    const size_t i = peers_.size();
    peers_.emplace_back();
    ConnectOptions options;
    options.instead_of = instead_of;
    harness_.Run(loop_, [&] {
      harness_.transport().Connect(
          loop_, server_.address(), options,
          [this, i, instead_of](absl::StatusOr<std::unique_ptr<Connection>> connection) {
            if (instead_of) return ended_.push_back(connection.status());
            ASSERT_TRUE(connection.ok()) << connection.status();
            why_not_.push_back((*connection)->info().why_not_rdma);
            peers_[i] = std::make_unique<RawPeer>(harness_, loop_, *std::move(connection));
          });
    });
  }
  // Whether the connection came to be a link, and not a plain one.
  bool IsLink(size_t i) {
    EXPECT_TRUE(harness_.Until([&] { return peers_[i] != nullptr; }));
    return why_not_.back() != WhyNotRdma::kPeerSilent;
  }

  LinkHarness harness_;
  EventLoop& loop_ = harness_.loops().at(0);
  RawServer server_{harness_, harness_.tcp(), [](RawPeer&) {}};
  std::vector<std::unique_ptr<RawPeer>> peers_;
  std::vector<WhyNotRdma> why_not_;  // in the order of their ends
  std::vector<absl::Status> ended_;  // of those that were to replace a connection
};

TEST_F(LinkBusyServerTest, OneThatHasAnsweredIsGivenMoreTime) {
  Connect();
  Answer(0);
  ASSERT_TRUE(IsLink(0));
  Connect();
  WaitFor(milliseconds(2900));
  EXPECT_EQ(peers_[1], nullptr);
  Answer(1);
  EXPECT_TRUE(IsLink(1));
  EXPECT_EQ(server_.peers.size(), 2u) << "no client made a plain connection";
}

TEST_F(LinkBusyServerTest, ThatTimeEndsAndTheNextIsAskedAgain) {
  Connect();
  Answer(0);
  ASSERT_TRUE(IsLink(0));
  Connect();
  WaitFor(seconds(4));
  EXPECT_FALSE(IsLink(1));
  ASSERT_EQ(server_.peers.size(), 3u);
  Connect();
  Answer(3);
  EXPECT_TRUE(IsLink(2)) << "it was not remembered as one that knows no hello";
}

TEST_F(LinkBusyServerTest, OneThatAnsweredAnotherMeanwhileIsAskedOnceMore) {
  Connect();
  ASSERT_TRUE(harness_.Until([&] { return server_.peers.size() == 1; }));
  Connect();
  Answer(1);
  ASSERT_TRUE(IsLink(1));
  ASSERT_TRUE(harness_.Until([&] { return server_.peers.size() == 3; })) << "after 300 ms";
  WaitFor(seconds(2));
  Answer(2);
  EXPECT_TRUE(IsLink(0));
}

TEST_F(LinkBusyServerTest, ALinkInsteadOfAPlainConnectionIsAskedForOnceMoreAndNoMore) {
  harness_.record().RememberNoHello(server_.address().ToString());
  Connect(WhyNotRdma::kNoDevice);
  ASSERT_TRUE(harness_.Until([&] { return server_.peers.size() == 1; }));
  Connect();
  Answer(1);
  ASSERT_TRUE(IsLink(1));
  WaitFor(seconds(4));
  EXPECT_EQ(server_.peers.size(), 3u);
  ASSERT_EQ(ended_.size(), 1u);
  EXPECT_EQ(ReasonOf(ended_[0]), WhyNotRdma::kPeerSilent) << ended_[0];
}

}  // namespace
}  // namespace farcall
