// SPDX-License-Identifier: Apache-2.0

#include "rpc/session/kept_info.h"

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
    return info;
  }
  uint64_t info_version() const override { return version; }

  TransportKind kind = TransportKind::kTcp;
  uint64_t version = 0;
  mutable int asked = 0;

 private:
  std::unique_ptr<BlockPool> pool_;
};

TEST(KeptInfoTest, IsAskedForOnce) {
  ChangingConnection connection;
  KeptInfo kept;
  EXPECT_EQ(kept.last(), nullptr);
  const KeptInfo::Info first = kept.Of(connection);
  EXPECT_EQ(kept.Of(connection), first);
  EXPECT_EQ(kept.last(), first);
  EXPECT_EQ(connection.asked, 1);
}

TEST(KeptInfoTest, IsAskedForAgainWhenTheConnectionMovesToRdma) {
  ChangingConnection connection;
  KeptInfo kept;
  const KeptInfo::Info before = kept.Of(connection);
  connection.kind = TransportKind::kRdma;
  connection.version = 1;
  EXPECT_EQ(kept.Of(connection)->transport, TransportKind::kRdma);
  EXPECT_EQ(before->transport, TransportKind::kTcp) << "what a call has seen stays";
}

TEST(KeptInfoTest, AForgottenOneIsAskedForAgain) {
  ChangingConnection connection;
  KeptInfo kept;
  static_cast<void>(kept.Of(connection));
  kept.Forget();
  EXPECT_EQ(kept.last(), nullptr);
  EXPECT_NE(kept.Of(connection), nullptr);
  EXPECT_EQ(connection.asked, 2);
}

}  // namespace
}  // namespace farcall
