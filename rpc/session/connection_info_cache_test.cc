// SPDX-License-Identifier: Apache-2.0

#include "rpc/session/connection_info_cache.h"

#include <utility>

#include "gtest/gtest.h"

namespace farcall {
namespace {

class ChangingConnection final : public Connection {
 public:
  void Start(Handler&) override {}
  void Write(Buffer) override {}
  void PauseRead() override {}
  void ResumeRead() override {}
  void Close(absl::Status, CloseMode) override {}
  size_t backlog() const override { return 0; }
  BlockPool& pool() override { return *pool_; }
  ConnectionInfo info() const override {
    ++asked;
    ConnectionInfo info;
    info.transport = kind;
    info.why_not_rdma = WhyNotRdma::kTimedOut;
    info.why_detail = "2 s";
    return info;
  }
  uint64_t info_version() const override { return version; }

  TransportKind kind = TransportKind::kTcp;
  uint64_t version = 0;
  mutable int asked = 0;

 private:
  std::unique_ptr<BlockPool> pool_;
};

TEST(ConnectionInfoCacheTest, IsAskedForOnce) {
  ChangingConnection connection;
  ConnectionInfoCache cache;
  EXPECT_EQ(cache.last(), nullptr);
  const ConnectionInfoCache::Info first = cache.Of(connection);
  EXPECT_EQ(cache.Of(connection), first);
  EXPECT_EQ(cache.last(), first);
  EXPECT_EQ(connection.asked, 1);
}

TEST(ConnectionInfoCacheTest, IsAskedForAgainWhenTheConnectionMovesToRdma) {
  ChangingConnection connection;
  ConnectionInfoCache cache;
  const ConnectionInfoCache::Info before = cache.Of(connection);
  connection.kind = TransportKind::kRdma;
  connection.version = 1;
  EXPECT_EQ(cache.Of(connection)->transport, TransportKind::kRdma);
  EXPECT_EQ(before->transport, TransportKind::kTcp) << "what a call has seen stays";
}

TEST(ConnectionInfoCacheTest, AForgottenOneIsAskedForAgain) {
  ChangingConnection connection;
  ConnectionInfoCache cache;
  static_cast<void>(cache.Of(connection));
  cache.Forget();
  EXPECT_EQ(cache.last(), nullptr);
  EXPECT_NE(cache.Of(connection), nullptr);
  EXPECT_EQ(connection.asked, 2);
}

TEST(ConnectionInfoCacheTest, AReasonThatIsFoundLaterTakesThePlaceOfTheConnections) {
  ChangingConnection connection;
  ConnectionInfoCache cache;
  const ConnectionInfoCache::Info before = cache.Of(connection);
  cache.SetReason(connection, NotRdma(WhyNotRdma::kPeerHasNone, "no device there"));
  EXPECT_EQ(cache.last()->why_not_rdma, WhyNotRdma::kPeerHasNone) << "at once";
  connection.version = 1;
  EXPECT_EQ(cache.Of(connection)->why_not_rdma, WhyNotRdma::kPeerHasNone);
  EXPECT_EQ(cache.Fresh(connection).why_detail, "no device there");
  EXPECT_EQ(before->why_not_rdma, WhyNotRdma::kTimedOut) << "what a call has seen stays";
  cache.Forget();
  EXPECT_EQ(cache.Of(connection)->why_not_rdma, WhyNotRdma::kTimedOut) << "another connection";
}

}  // namespace
}  // namespace farcall
