// SPDX-License-Identifier: Apache-2.0
//
// When the pool has no memory left, the connection that holds most is closed, and no other one.

#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "rpc/session/server/limits/memory_holders.h"
#include "rpc/session/server/server_session_testing.h"

namespace farcall {
namespace {

class ServerMemoryTest : public ServerSessionTest {
 protected:
  ~ServerMemoryTest() override {
    for (const auto& wire : wires_) wire->End(absl::UnavailableError("closed by peer"));
    world_.Run();
  }
  FakeWire& Another() {
    wires_.push_back(std::make_shared<FakeWire>());
    wires_.back()->loop = world_.loop.get();
    world_.loop->RunOrPost([&] {
      ServerSession::Accept(
          core_, *world_.loop,
          std::make_unique<FakeConnection>(*world_.loop, *world_.pool, wires_.back()));
    });
    return *wires_.back();
  }
  // An answer of so many bytes waits for the peer, which does not read.
  FakeWire& SlowReader(size_t bytes) {
    FakeWire& wire = Another();
    service_.say = [bytes](Controller& controller, auto* done) {
      controller.response_attachment().Append(std::string(bytes, 'x'));
      done->Run();
    };
    wire.Deliver(Request(1));
    world_.Run();
    return wire;
  }
  // Half of a request of twice as many bytes has come, and nothing comes any more.
  FakeWire& SlowSender(size_t bytes) {
    FakeWire& wire = Another();
    wire.Deliver(Request(1, std::string(2 * bytes, 'x')).substr(0, bytes));
    world_.Run();
    return wire;
  }
  // The pool has nothing for somebody.
  void Exhaust() {
    std::vector<BlockRef> all;
    while (BlockRef block = world_.pool->Allocate(BlockPool::kSmall)) {
      all.push_back(std::move(block));
    }
  }
  void Pass() {
    world_.clock.Advance(MemoryHolders::kEach);
    world_.Run();
  }

  std::vector<std::shared_ptr<FakeWire>> wires_;
};

constexpr size_t kMiB = size_t{1} << 20;

TEST_F(ServerMemoryTest, WhoHoldsMostGoesFirst) {
  FakeWire& small = SlowReader(MemoryHolders::kMuch / 2);
  FakeWire& middle = SlowReader(2 * kMiB);
  FakeWire& most = SlowSender(5 * kMiB);
  FakeWire& idle = Another();
  Pass();
  Exhaust();
  Pass();
  EXPECT_TRUE(most.destroyed);
  EXPECT_FALSE(middle.destroyed);
  EXPECT_TRUE(Logged("held the most of the block pool"));
  EXPECT_EQ(core_->counters.timed_out, 1u);
  Pass();
  EXPECT_FALSE(middle.destroyed) << "there is memory again";
  Exhaust();
  Pass();
  EXPECT_TRUE(middle.destroyed);
  for (int i = 0; i < 5; ++i) {
    Exhaust();
    Pass();
  }
  EXPECT_FALSE(small.destroyed);
  EXPECT_FALSE(idle.destroyed);
}

TEST_F(ServerMemoryTest, AsLongAsThereIsMemoryNobodyGoes) {
  Exhaust();
  const FakeWire& reader = SlowReader(5 * kMiB);
  const FakeWire& sender = SlowSender(5 * kMiB);
  for (int i = 0; i < 50; ++i) Pass();
  EXPECT_FALSE(reader.destroyed);
  EXPECT_FALSE(sender.destroyed);
}

TEST_F(ServerMemoryTest, WhoHasReadHoldsNothing) {
  FakeWire& reader = SlowReader(5 * kMiB);
  Pass();
  reader.written.Clear();
  Exhaust();
  Pass();
  EXPECT_FALSE(reader.destroyed);
}

}  // namespace
}  // namespace farcall
