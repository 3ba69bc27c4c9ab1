// SPDX-License-Identifier: Apache-2.0
//
// A connection with bulk on a loop where others have something to do.

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "gtest/gtest.h"
#include "transport/base/clock.h"
#include "transport/buffer/block_pool.h"
#include "transport/loop/event_loop.h"
#include "transport/loop/loop_testing.h"
#include "transport/sockaddr.h"
#include "transport/tcp/tcp_connection.h"
#include "transport/tcp/testing/socket_pair.h"

namespace farcall {
namespace {

constexpr size_t kBulk = size_t{512} << 10;
constexpr size_t kPerTurn = size_t{32} << 10;

// Waits for a message of kBulk.
class BulkReader final : public Connection::Handler {
 public:
  size_t OnRead(Buffer& input) override {
    received = input.size();
    return kBulk;
  }
  void OnDrained() override {}
  void OnClose(const absl::Status&) override {}

  size_t received = 0;
};

class Sentinel final : public Flushable {
 public:
  explicit Sentinel(const Connection& bulk) : bulk_(bulk) {}
  void Flush() override { bulk_sent_before = bulk_.info().bytes_written; }

  std::optional<uint64_t> bulk_sent_before;

 private:
  const Connection& bulk_;
};

class TcpBulkTest : public testing::Test {
 protected:
  ~TcpBulkTest() override {
    loop_->RunOrPost([this] {
      crowd_.reset();
      bulk_.reset();
      second_.reset();
    });
  }
  std::unique_ptr<TcpConnection> Connect(UniqueFd& other, BulkReader& handler) {
    SocketPair pair = SocketPair::Tcp();
    other = std::move(pair.other);
    std::unique_ptr<TcpConnection> connection;
    loop_->RunOrPost([&] {
      Address local = LocalAddress(pair.mine.get());
      Address peer = PeerAddress(pair.mine.get());
      auto socket = WatchedSocket::Create(*loop_, std::move(pair.mine));
      connection = std::make_unique<TcpConnection>(*std::move(socket), *pool_, ConnectionOptions(),
                                                   local, peer);
      connection->Start(handler);
    });
    return connection;
  }
  void MakeCrowded() {
    loop_->RunOrPost([this] { crowd_.emplace(*loop_); });
  }
  bool crowded() {
    bool crowded = false;
    loop_->RunOrPost([&] { crowded = loop_->fds().crowded(); });
    return crowded;
  }
  ConnectionInfo Info(const TcpConnection& connection) {
    ConnectionInfo info;
    loop_->RunOrPost([&] { info = connection.info(); });
    return info;
  }

  // Stands still: no turn is long.
  ManualClock clock_;
  std::unique_ptr<BlockPool> pool_ = *BlockPool::Create({});
  std::unique_ptr<EventLoop> loop_ = *EventLoop::Create(clock_);
  UniqueFd other_;
  BulkReader handler_;
  std::unique_ptr<TcpConnection> bulk_ = Connect(other_, handler_);
  std::unique_ptr<TcpConnection> second_;
  std::optional<Crowd> crowd_;
};

TEST_F(TcpBulkTest, BesideOthersItReadsOrWritesALittleInEachTurn) {
  MakeCrowded();
  loop_->RunOrPost([&] { bulk_->Write(Buffer(std::string(kBulk, 'w'))); });
  size_t sent = 0;
  size_t taken = 0;
  int both = 0;
  int at_once = 0;
  ConnectionInfo last = Info(*bulk_);
  // The kernel's acknowledgements may take 40 ms each.
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(30);
  while ((handler_.received < kBulk || taken < kBulk) && std::chrono::steady_clock::now() < end) {
    if (sent < kBulk) sent += SendSome(other_.get(), std::string(kBulk - sent, 'r'));
    loop_->RunOnce();
    taken += ReceiveAll(other_.get()).size();
    const ConnectionInfo now = Info(*bulk_);
    const uint64_t read = now.bytes_read - last.bytes_read;
    const uint64_t written = now.bytes_written - last.bytes_written;
    at_once += read > kPerTurn ? 1 : 0;
    EXPECT_LE(written, kPerTurn);
    both += read > 0 && written > 0 ? 1 : 0;
    last = now;
  }
  EXPECT_EQ(handler_.received, kBulk);
  EXPECT_EQ(taken, kBulk);
  EXPECT_LE(both, 2) << "but at first, when it is not known how much comes";
  EXPECT_LE(at_once, 1) << "likewise";
}

// A timer may ask what the peer has said.
TEST_F(TcpBulkTest, WhatComesAfterLongSilenceIsReadBeforeTimersFire) {
  MakeCrowded();
  SendSome(other_.get(), "some");
  loop_->RunOnce();
  ASSERT_EQ(handler_.received, 4u) << "it waits for much more";
  size_t read_before = 0;
  Timer timer([&] { read_before = handler_.received; });
  for (const bool long_silence : {false, true}) {
    const size_t received = handler_.received;
    if (long_silence) clock_.Advance(std::chrono::milliseconds(50));
    SendSome(other_.get(), "more");
    loop_->RunOrPost([&] { loop_->SetTimer(timer, clock_.Now()); });
    loop_->RunOnce();
    EXPECT_EQ(handler_.received, received + 4);
    EXPECT_EQ(read_before, long_silence ? received + 4 : received);
  }
}

TEST_F(TcpBulkTest, OthersSendBeforeIt) {
  MakeCrowded();
  Sentinel other(*bulk_);
  const uint64_t before = Info(*bulk_).bytes_written;
  loop_->RunOrPost([&] {
    bulk_->Write(Buffer(std::string(kBulk, 'w')));
    loop_->FlushLater(other);
  });
  EXPECT_EQ(other.bulk_sent_before, before);
  EXPECT_EQ(Info(*bulk_).bytes_written, before + kPerTurn);
}

TEST_F(TcpBulkTest, ThoseThatAllHaveBulkDoNotMakeWayForEachOther) {
  UniqueFd second_other;
  BulkReader second_handler;
  second_ = Connect(second_other, second_handler);
  // Both wait for the rest of a message, and for long enough.
  for (int i = 0; i < 200; ++i) {
    for (const UniqueFd* other : {&other_, &second_other}) SendSome(other->get(), "some");
    loop_->RunOnce();
  }
  ASSERT_GT(second_handler.received, 0u);
  EXPECT_FALSE(crowded());
  for (int turn = 0; turn < 4; ++turn) {
    size_t sent = 0;
    for (const UniqueFd* other : {&other_, &second_other}) {
      sent += SendSome(other->get(), std::string(kPerTurn * 3 / 2, 'r'));
    }
    const uint64_t before = Info(*bulk_).bytes_read + Info(*second_).bytes_read;
    loop_->RunOnce();
    EXPECT_EQ(Info(*bulk_).bytes_read + Info(*second_).bytes_read, before + sent);
  }
}

}  // namespace
}  // namespace farcall
