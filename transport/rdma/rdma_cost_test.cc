// SPDX-License-Identifier: Apache-2.0
//
// What RdmaTransport asks of the device for what it is asked for, by the fabric's counters.

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "transport/rdma/testing/fake_rdma.h"
#include "transport/testing/conformance/conformance_run.h"

namespace farcall {
namespace {

class RdmaCostTest : public ::testing::Test {
 protected:
  using Harness = OverFake<SteppedRdmaHarness>;

  void Start(const FakeRdma::Change& change = nullptr) {
    harness_.emplace(FakeMode::kStepped, change);
    run_.emplace(*harness_);
    duo_ = run_->Connect();
    ASSERT_NE(duo_, nullptr);
    harness_->Settle();
  }
  ~RdmaCostTest() override {
    duo_.reset();
    if (run_) {
      EXPECT_TRUE(run_->violations().empty()) << run_->violations()[0];
    }
    if (harness_) harness_->End();
  }

  FakeCounters Client() { return harness_->fabric().counters("fakeA"); }
  FakeCounters Server() { return harness_->fabric().counters("fakeB"); }
  void Arrives() {
    ASSERT_TRUE(
        harness_->Until([&] { return duo_->server.seen().received == duo_->client.sent(); }));
    harness_->Settle();
  }

  std::optional<Harness> harness_;
  std::optional<ConformanceRun> run_;
  std::unique_ptr<Duo> duo_;
};

TEST_F(RdmaCostTest, TheSmallWritesOfATurnAreOneMessage) {
  Start();
  const FakeCounters before = Client();
  harness_->Run(*duo_->client.loop(), [&] {
    for (int i = 0; i < 50; ++i) duo_->client.Send(20);
  });
  Arrives();
  EXPECT_EQ(Client().doorbells - before.doorbells, 1u);
  EXPECT_EQ(Client().sends_posted - before.sends_posted, 1u);
}

TEST_F(RdmaCostTest, WhatIsSentNowLeavesAtOnceUnlessOthersStandBeforeIt) {
  Start();
  const FakeCounters before = Client();
  harness_->Run(*duo_->client.loop(), [&] {
    duo_->client.sends_now = true;
    duo_->client.Send(20);
    EXPECT_EQ(Client().inline_sends - before.inline_sends, 1u);
    duo_->client.Send(400);  // too many to be inline
    EXPECT_EQ(Client().doorbells - before.doorbells, 2u);
    EXPECT_EQ(duo_->client.backlog(), 0u);
    duo_->client.Send(20'000);
    duo_->client.Send(20);
    EXPECT_EQ(Client().doorbells - before.doorbells, 2u);
    EXPECT_EQ(duo_->client.backlog(), 20'020u);
  });
  Arrives();
  EXPECT_EQ(Client().doorbells - before.doorbells, 3u);
  // And no more than there are credits for.
  harness_->Run(*duo_->client.loop(), [&] {
    for (int i = 0; i < 1000; ++i) duo_->client.Send(20);
  });
  Arrives();
  EXPECT_EQ(Server().rnrs, 0u);
}

TEST_F(RdmaCostTest, WhatIsCopiedIsCountedByItsCause) {
  Start();
  duo_->client.Send(20);
  Arrives();
  EXPECT_EQ(duo_->client.info().copied[CopyCause::kSentSmall], 20u);
  EXPECT_EQ(duo_->server.info().copied[CopyCause::kReceivedSmall], 20u);
  // In blocks of a region that has just been mapped, and then in such as the device knows.
  duo_->client.Send(100'000);
  Arrives();
  const CopiedBytes before = duo_->client.info().copied;
  duo_->client.Send(100'000);
  Arrives();
  const CopiedBytes after = duo_->client.info().copied;
  EXPECT_EQ(after[CopyCause::kSentUnregistered], before[CopyCause::kSentUnregistered]);
  EXPECT_LE(after.sent() - before.sent(), 8 * 512u);
  const std::string other(40'000, 'x');
  harness_->Run(*duo_->client.loop(), [&] { duo_->client.Write(Buffer(other)); });
  EXPECT_TRUE(harness_->Until(
      [&] { return duo_->client.info().copied.sent() - after.sent() >= other.size(); }));
  EXPECT_GE(duo_->client.info().copied[CopyCause::kSentUnregistered],
            after[CopyCause::kSentUnregistered] + other.size() - 512);
  harness_->Settle();
  duo_.reset();
  run_.reset();  // those bytes were not of the pattern
}

TEST_F(RdmaCostTest, ASmallMessageIsInline) {
  Start();
  const FakeCounters before = Client();
  duo_->client.Send(32);
  Arrives();
  EXPECT_EQ(Client().inline_sends - before.inline_sends, 1u);
}

TEST_F(RdmaCostTest, ALargeWriteIsFewDoorbells) {
  Start();
  const FakeCounters before = Client();
  duo_->client.Send(size_t{1} << 20);
  Arrives();
  // 64 KiB with a header each, as the credits come.
  EXPECT_LE(Client().sends_posted - before.sends_posted, 30u);
  EXPECT_LE(Client().doorbells - before.doorbells, 20u);
  EXPECT_EQ(Client().send_completions, Client().signaled_sends);
}

TEST_F(RdmaCostTest, InSilenceNothingIsSent) {
  Start();
  for (int i = 0; i < 20; ++i) duo_->client.Send(size_t{100} << 10);
  Arrives();
  const FakeCounters client = Client();
  const FakeCounters server = Server();
  for (int i = 0; i < 5; ++i) harness_->Settle();
  EXPECT_EQ(Client().sends_posted, client.sends_posted);
  EXPECT_EQ(Server().sends_posted, server.sends_posted);
}

TEST_F(RdmaCostTest, CountsArePiggyBacked) {
  Start();
  duo_.reset();
  ConformanceRun::Setup setup;
  setup.prepare = [](Duo& duo) {
    duo.server.on_read = [](TestPeer& server) {
      server.Send(static_cast<size_t>(server.seen().received - server.sent()));
    };
  };
  duo_ = run_->Connect(setup);
  ASSERT_NE(duo_, nullptr);
  harness_->Settle();
  const FakeCounters before = Client();
  for (int i = 0; i < 100; ++i) {
    duo_->client.Send(32);
    ASSERT_TRUE(
        harness_->Until([&] { return duo_->client.seen().received == duo_->client.sent(); }));
  }
  EXPECT_EQ(Client().sends_posted - before.sends_posted, 100u);
  EXPECT_EQ(Client().doorbells - before.doorbells, 100u);
}

TEST_F(RdmaCostTest, SmallMessagesThatAreKeptPinLittle) {
  Start();
  duo_.reset();
  std::vector<Buffer> kept;
  ConformanceRun::Setup setup;
  setup.prepare = [&](Duo& duo) {
    duo.server.take = [&](TestPeer& peer, Buffer& input) {
      kept.push_back(input.Share());
      peer.Take(input, input.size());
      return size_t{0};
    };
  };
  duo_ = run_->Connect(setup);
  ASSERT_NE(duo_, nullptr);
  const size_t before = harness_->pool().stats().used_bytes;
  for (int i = 0; i < 500; ++i) {
    duo_->client.Send(100);
    Arrives();
  }
  EXPECT_LE(harness_->pool().stats().used_bytes - before, size_t{16} * BlockPool::kSmall);
  EXPECT_EQ(kept.size(), 500u);
  harness_->Run(*duo_->server.loop(), [&] { kept.clear(); });
}

// More than a quarter of a receive block, and less than half.
TEST_F(RdmaCostTest, MessagesThatAreKeptPinNoWholeBlocksWhenMemoryIsShort) {
  Start([](FakeFabricOptions&, RdmaRigOptions& rig) {
    rig.rdma.shared_receives = 64;
    rig.rdma.receive_slots = 32;
    rig.pool.max_bytes = size_t{48} << 20;
  });
  duo_.reset();
  std::vector<Buffer> kept;
  ConformanceRun::Setup setup;
  setup.prepare = [&](Duo& duo) {
    duo.server.take = [&](TestPeer& peer, Buffer& input) {
      kept.push_back(input.Share());
      peer.Take(input, input.size());
      return size_t{0};
    };
  };
  duo_ = run_->Connect(setup);
  ASSERT_NE(duo_, nullptr);
  // In blocks of their own they would take 50 MiB.
  for (int i = 0; i < 800; ++i) {
    duo_->client.Send(20'000);
    Arrives();
  }
  EXPECT_LE(harness_->pool().stats().used_bytes, size_t{40} << 20);
  harness_->Run(*duo_->server.loop(), [&] { kept.clear(); });
}

// Blocks of the heap and of users, which no device knows.
TEST_F(RdmaCostTest, UnregisteredMemoryIsCopied) {
  Start();
  duo_.reset();
  std::string received;
  ConformanceRun::Setup setup;
  setup.prepare = [&](Duo& duo) {
    duo.server.take = [&](TestPeer&, Buffer& input) {
      received += input.ToString();
      input.Clear();
      return size_t{0};
    };
  };
  duo_ = run_->Connect(setup);
  ASSERT_NE(duo_, nullptr);
  std::string bytes(size_t{300} << 10, 'x');
  for (size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<char>(i * 31);
  duo_->client.Write(Buffer(bytes));
  EXPECT_TRUE(harness_->Until([&] { return received.size() == bytes.size(); }));
  EXPECT_EQ(received, bytes);
}

TEST_F(RdmaCostTest, AReaderThatKeepsThePoolsBlocksSlowsItsPeerDown) {
  Start([](FakeFabricOptions&, RdmaRigOptions& rig) {
    rig.rdma.shared_receives = 64;
    rig.rdma.receive_slots = 32;
    rig.pool.max_bytes = size_t{48} << 20;
  });
  duo_.reset();
  std::vector<Buffer> kept;
  ConformanceRun::Setup setup;
  setup.prepare = [&](Duo& duo) {
    duo.server.take = [&](TestPeer& peer, Buffer& input) {
      kept.push_back(input.Share());
      peer.Take(input, input.size());
      return size_t{0};
    };
  };
  duo_ = run_->Connect(setup);
  ASSERT_NE(duo_, nullptr);
  duo_->client.Send(size_t{64} << 20);
  harness_->Settle();
  EXPECT_LT(duo_->server.seen().received, duo_->client.sent());
  ASSERT_TRUE(harness_->Until([&] {
    harness_->Run(*duo_->server.loop(), [&] { kept.clear(); });
    return duo_->server.seen().received == duo_->client.sent();
  }));
  harness_->Run(*duo_->server.loop(), [&] { kept.clear(); });
  EXPECT_EQ(Server().rnrs, 0u);
}

// The poller has a block of its own to copy to, and each receive is posted again with the block
// that its reader gave back.
TEST_F(RdmaCostTest, AFullPoolStopsNoConnection) {
  Start([](FakeFabricOptions&, RdmaRigOptions& rig) {
    rig.rdma.shared_receives = 64;
    rig.rdma.receive_slots = 32;
    rig.pool.max_bytes = size_t{48} << 20;
  });
  // What the pool has left.
  std::vector<BlockRef> taken;
  for (const size_t size : {BlockPool::kSmall, BlockPool::kMedium, BlockPool::kLarge}) {
    while (BlockRef block = harness_->pool().Allocate(size)) taken.push_back(std::move(block));
  }
  duo_->client.Write(Buffer());
  duo_->client.Send(size_t{16} << 20);
  ASSERT_TRUE(harness_->Until([&] { return duo_->server.seen().received == duo_->client.sent(); }));
  taken.clear();
  EXPECT_EQ(Server().rnrs, 0u);
}

}  // namespace
}  // namespace farcall
