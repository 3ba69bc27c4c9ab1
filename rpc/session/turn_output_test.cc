// SPDX-License-Identifier: Apache-2.0

#include "rpc/session/turn_output.h"

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "rpc/session/session_testing.h"
#include "transport/loop/loop_testing.h"

namespace farcall {
namespace {

class TurnOutputTest : public testing::Test {
 protected:
  TurnOutputTest() { output_.SetConnection(connection()); }
  ~TurnOutputTest() override {
    world_.loop->RunOrPost([this] {
      crowd_.reset();
      output_.Forget();
      connection_.reset();
    });
  }

  Connection& connection() {
    if (connection_ == nullptr) {
      connection_ = std::make_unique<FakeConnection>(*world_.loop, *world_.pool, wire_);
    }
    return *connection_;
  }

  SessionWorld world_;
  const std::shared_ptr<FakeWire> wire_ = std::make_shared<FakeWire>();
  std::unique_ptr<Connection> connection_;
  TurnOutput output_{*world_.loop, *world_.pool};
  std::optional<Crowd> crowd_;
};

TEST_F(TurnOutputTest, TheFramesOfATurnLeaveTogetherWhenItEnds) {
  world_.loop->RunOrPost([this] {
    for (int i = 0; i < 3; ++i) output_.Write("head", Buffer());
    EXPECT_TRUE(wire_->written.empty());
  });
  EXPECT_EQ(wire_->written.ToString(), "headheadhead");
  EXPECT_EQ(wire_->written.slices().size(), 1u);
}

TEST_F(TurnOutputTest, AloneOnItsLoopItWritesToTheSameBlockAgain) {
  for (int i = 0; i < 3; ++i) {
    world_.loop->RunOrPost([this] { output_.Write("head", Buffer()); });
    wire_->written.Clear();
    EXPECT_EQ(world_.pool->stats().used_bytes, BlockPool::kSmall);
  }
  EXPECT_EQ(world_.pool->stats().allocations, 1u);
  world_.loop->RunOrPost([this] { output_.Leave(); });
  EXPECT_EQ(world_.pool->stats().used_bytes, 0u);
}

TEST_F(TurnOutputTest, BesideOthersItKeepsNoBlockBetweenTurns) {
  world_.loop->RunOrPost([this] { crowd_.emplace(*world_.loop); });
  for (int i = 0; i < 3; ++i) {
    world_.loop->RunOrPost([this] { output_.Write("head", Buffer()); });
    wire_->written.Clear();
    EXPECT_EQ(world_.pool->stats().used_bytes, 0u);
  }
  world_.loop->RunOrPost([this] {
    EXPECT_TRUE(output_.Reserve(100));
    EXPECT_EQ(world_.pool->stats().used_bytes, BlockPool::kSmall);
    output_.Leave();
  });
  EXPECT_EQ(world_.pool->stats().used_bytes, 0u);
}

TEST_F(TurnOutputTest, WhatWaitsForASlowPeerSharesBlocks) {
  world_.loop->RunOrPost([this] { crowd_.emplace(*world_.loop); });
  for (int i = 0; i < 100; ++i) {
    world_.loop->RunOrPost([this] { output_.Write("head", Buffer()); });
  }
  EXPECT_EQ(wire_->written.size(), 400u);
  EXPECT_EQ(world_.pool->stats().used_bytes, 2 * BlockPool::kSmall);
}

TEST_F(TurnOutputTest, WhatFollowsAHeadIsNotCopiedAndKeepsItsPlace) {
  const std::string bytes = "attachment";
  Buffer rest;
  rest.AppendUserData(bytes.data(), bytes.size(), nullptr);
  world_.loop->RunOrPost([&] {
    output_.Write("one", std::move(rest));
    output_.Write("two", Buffer());
    output_.Write(Buffer("three"));
  });
  EXPECT_EQ(wire_->written.ToString(), "oneattachmenttwothree");
  EXPECT_EQ(wire_->written.slices()[1].view().data(), bytes.data());
}

TEST_F(TurnOutputTest, ATurnThatFillsABlockLeavesAllInItsOrder) {
  std::string all;
  world_.loop->RunOrPost([&] {
    for (int i = 0; i < 3000; ++i) {
      const std::string head = std::to_string(i);
      all += head;
      output_.Write(head, Buffer());
    }
  });
  EXPECT_GT(all.size(), BlockPool::kSmall);
  EXPECT_EQ(wire_->written.ToString(), all);
}

TEST_F(TurnOutputTest, WhoAsksTheConnectionGivesItAllBefore) {
  world_.loop->RunOrPost([this] {
    output_.Write("now", Buffer());
    output_.Flush();
    EXPECT_EQ(wire_->written.ToString(), "now");
    output_.Write("later", Buffer());
  });
  EXPECT_EQ(wire_->written.ToString(), "nowlater");
}

TEST_F(TurnOutputTest, NothingIsWrittenToAConnectionThatIsGone) {
  world_.loop->RunOrPost([this] {
    output_.Write("lost", Buffer());
    output_.Forget();
  });
  EXPECT_TRUE(wire_->written.empty());
  world_.loop->RunOrPost([this] {
    output_.SetConnection(connection());
    output_.Write("of the next one", Buffer());
  });
  EXPECT_EQ(wire_->written.ToString(), "of the next one");
}

TEST_F(TurnOutputTest, WithoutBlocksHeadsLieElsewhere) {
  std::vector<BlockRef> all;
  for (const uint32_t size : {BlockPool::kSmall, BlockPool::kMedium, BlockPool::kLarge}) {
    while (BlockRef block = world_.pool->Allocate(size)) all.push_back(std::move(block));
  }
  world_.loop->RunOrPost([this] { output_.Write("head", Buffer("rest")); });
  EXPECT_EQ(wire_->written.ToString(), "headrest");
}

}  // namespace
}  // namespace farcall
