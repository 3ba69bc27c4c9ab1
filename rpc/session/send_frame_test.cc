// SPDX-License-Identifier: Apache-2.0

#include "rpc/session/send_frame.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "rpc/wire/test_message.pb.h"
#include "transport/base/clock.h"
#include "transport/loop/loop_testing.h"

namespace farcall {
namespace {

using ::farcall::testing::EchoMessage;

class SendFrameTest : public ::testing::Test {
 protected:
  struct Delivery {
    std::string head;
    std::string body;
    bool on_this_thread;
    bool loop_held;
    size_t pool_bytes;
  };

  // False: refused. `text`: of a message; `attachment`: what is left of it.
  bool Send(const std::string& text, Buffer& attachment) {
    EchoMessage message;
    message.set_message(text);
    wire::RpcMeta meta;
    meta.set_correlation_id(7);
    const auto encoder = FrameEncoder::Create(meta, &message, attachment.size());
    EXPECT_TRUE(encoder.ok()) << encoder.status();
    expected_.resize(encoder->head_size());
    encoder->WriteTo(expected_.data());
    expected_ += attachment.ToString();
    const auto caller = std::this_thread::get_id();
    return SendFrame(
        *loop_, *pool_, *encoder, memory_, attachment,
        [this, caller](absl::string_view head, Buffer body) {
          deliveries_.push_back({std::string(head), body.ToString(),
                                 std::this_thread::get_id() == caller, loop_->held(),
                                 pool_->stats().used_bytes});
        },
        [this] {
          EXPECT_FALSE(loop_->held());
          ready_before_.push_back(deliveries_.size());
        });
  }
  bool Send(const std::string& text) {
    Buffer none;
    return Send(text, none);
  }
  // The only delivery since the last time.
  Delivery Take() {
    EXPECT_EQ(deliveries_.size(), 1u);
    Delivery delivery = deliveries_.empty() ? Delivery() : deliveries_.front();
    deliveries_.clear();
    EXPECT_TRUE(delivery.loop_held);
    EXPECT_EQ(delivery.head + delivery.body, expected_);
    return delivery;
  }

  SteadyClock clock_;
  std::unique_ptr<BlockPool> pool_ =
      *BlockPool::Create({.region_bytes = size_t{2} << 20, .max_bytes = size_t{6} << 20});
  std::unique_ptr<EventLoop> loop_ = *EventLoop::Create(clock_);
  char memory_[kSmallHead];
  std::string expected_;
  std::vector<Delivery> deliveries_;
  std::vector<size_t> ready_before_;  // for each ready(), the deliveries before it
};

// The text of a message whose head has just `bytes`.
std::string TextForHead(size_t bytes) {
  constexpr size_t kMeta = 2;   // the correlation id
  constexpr size_t kField = 3;  // tag and two bytes of length
  return std::string(bytes - kFrameHeaderSize - kMeta - kField, 't');
}

TEST_F(SendFrameTest, ASmallFrameIsDeliveredAtOnceWhereTheLoopIsFree) {
  EXPECT_TRUE(Send("hello"));
  const Delivery delivery = Take();
  EXPECT_TRUE(delivery.on_this_thread);
  EXPECT_FALSE(delivery.head.empty());
  EXPECT_TRUE(delivery.body.empty());
  EXPECT_EQ(delivery.pool_bytes, 0u) << "its head lies where the caller said";
}

TEST_F(SendFrameTest, TheAttachmentGoesAlongWithoutACopy) {
  const std::string bytes(100'000, 'a');
  bool released = false;
  Buffer attachment;
  attachment.AppendUserData(bytes.data(), bytes.size(), [&] { released = true; });
  EXPECT_TRUE(Send("hello", attachment));
  EXPECT_TRUE(attachment.empty());
  EXPECT_TRUE(released);
  EXPECT_EQ(Take().body, bytes);
}

TEST_F(SendFrameTest, ASmallFrameIsPostedWhileAnotherThreadHoldsTheLoop) {
  TestEvent held;
  TestEvent sent;
  std::thread holder([&] {
    EXPECT_TRUE(loop_->TryRun([&] {
      held.Signal();
      EXPECT_TRUE(sent.Wait());
    }));
  });
  ASSERT_TRUE(held.Wait());
  Buffer attachment(absl::string_view("beside"));
  EXPECT_TRUE(Send("hello", attachment));
  EXPECT_TRUE(attachment.empty());
  EXPECT_TRUE(deliveries_.empty());
  sent.Signal();
  holder.join();
  EXPECT_TRUE(loop_->RunOnce());
  EXPECT_EQ(Take().body, "beside");
}

TEST_F(SendFrameTest, AFrameThatOthersFollowIsLeftToWhoDrivesTheLoop) {
  std::vector<std::string> order;
  Buffer none;
  const auto deliver = [&](absl::string_view head, Buffer&&) { order.emplace_back(head); };
  DeliverFrame(*loop_, clock_.Now(), "first", none, deliver, /*more=*/true);
  EXPECT_TRUE(order.empty()) << "the loop is free, and would be flushed for one frame";
  DeliverFrame(*loop_, clock_.Now(), "last", none, deliver);
  EXPECT_TRUE(order.empty()) << "it does not overtake";
  EXPECT_TRUE(loop_->RunOnce());
  EXPECT_EQ(order, (std::vector<std::string>{"first", "last"}));
}

TEST_F(SendFrameTest, NoFrameOvertakesWhatWaitsInTheMailbox) {
  std::vector<std::string> order;
  loop_->Post([&] { order.push_back("before"); });
  EXPECT_TRUE(Send("small"));
  EXPECT_TRUE(Send(std::string(5000, 'x')));
  EXPECT_TRUE(deliveries_.empty());
  loop_->Post([&] { order.push_back(std::to_string(deliveries_.size())); });
  EXPECT_TRUE(loop_->RunOnce());
  EXPECT_EQ(order, (std::vector<std::string>{"before", "2"}));
  ASSERT_EQ(deliveries_.size(), 2u);
  EXPECT_FALSE(deliveries_[0].head.empty());
  EXPECT_TRUE(deliveries_[1].head.empty());
}

TEST_F(SendFrameTest, ALargeFrameTravelsInBlocksOfThePool) {
  Buffer attachment(absl::string_view("beside"));
  EXPECT_TRUE(Send(std::string(300'000, 'x'), attachment));
  const Delivery delivery = Take();
  EXPECT_TRUE(delivery.head.empty());
  EXPECT_GE(delivery.pool_bytes, 300'000u);
  EXPECT_EQ(pool_->stats().used_bytes, 0u);
}

TEST_F(SendFrameTest, TheBoundBetweenSmallAndLargeIsExact) {
  EXPECT_TRUE(Send(TextForHead(kSmallHead)));
  EXPECT_EQ(Take().head.size(), kSmallHead);
  EXPECT_TRUE(Send(TextForHead(kSmallHead + 1)));
  const Delivery large = Take();
  EXPECT_TRUE(large.head.empty());
  EXPECT_EQ(large.body.size(), kSmallHead + 1);
}

TEST_F(SendFrameTest, WithoutBlocksNothingIsDeliveredAndTheAttachmentStays) {
  std::vector<BlockRef> all;
  for (const uint32_t size : {BlockPool::kSmall, BlockPool::kMedium, BlockPool::kLarge}) {
    while (BlockRef block = pool_->Allocate(size)) all.push_back(std::move(block));
  }
  Buffer attachment(absl::string_view("beside"));
  EXPECT_FALSE(Send(std::string(5000, 'x'), attachment));
  EXPECT_EQ(attachment.ToString(), "beside");
  EXPECT_FALSE(loop_->RunOnce());
  EXPECT_TRUE(deliveries_.empty());
  EXPECT_TRUE(ready_before_.empty());

  EXPECT_TRUE(Send("small frames need none"));
  Take();
}

TEST_F(SendFrameTest, WhatIsReadyIsToldBeforeItIsDelivered) {
  for (const size_t size : {10, 5000}) {
    EXPECT_TRUE(Send(std::string(size, 'x')));
    Take();
  }
  EXPECT_EQ(ready_before_, (std::vector<size_t>{0, 0}));
}

}  // namespace
}  // namespace farcall
