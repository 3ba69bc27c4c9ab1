// SPDX-License-Identifier: Apache-2.0

#include "rpc/dispatch/message_pool.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "rpc/dispatch/test_services.pb.h"

namespace farcall {
namespace {

TEST(MessagePoolTest, AMessageComesBackEmpty) {
  MessagePool pool;
  auto first = pool.Take(one::Ping::default_instance);
  static_cast<one::Ping&>(*first).set_text("secret of the last call");
  const google::protobuf::Message* const address = first.get();
  pool.Give(std::move(first));
  const auto second = pool.Take(one::Ping::default_instance);
  EXPECT_EQ(second.get(), address);
  EXPECT_FALSE(static_cast<const one::Ping&>(*second).has_text());
}

TEST(MessagePoolTest, ALargeMessageIsNotKept) {
  MessagePool pool;
  auto large = pool.Take(one::Ping::default_instance);
  static_cast<one::Ping&>(*large).set_text(std::string(100'000, 'x'));
  pool.Give(std::move(large));
  const auto next = pool.Take(one::Ping::default_instance);
  EXPECT_LT(next->SpaceUsedLong(), 1000u);
}

// A cleared field keeps its memory, which counts although the message is empty.
TEST(MessagePoolTest, AMessageThatHasGrownUnseenIsNotKeptForLong) {
  MessagePool pool;
  auto grown = pool.Take(one::Ping::default_instance);
  static_cast<one::Ping&>(*grown).set_text(std::string(10'000'000, 'x'));
  grown->Clear();
  const google::protobuf::Message* const address = grown.get();
  uint32_t times = 0;
  while (grown.get() == address && ++times <= 2 * MessagePool::kLookEvery) {
    pool.Give(std::move(grown));
    grown = pool.Take(one::Ping::default_instance);
    if (grown->SpaceUsedLong() < 1000) break;
  }
  EXPECT_LE(times, MessagePool::kLookEvery);
}

using Messages = std::vector<std::unique_ptr<google::protobuf::Message>>;

// What each of them keeps when it is cleared tells it from a new one.
constexpr size_t kMark = 1000;

void GiveMarked(MessagePool& pool, Messages messages) {
  for (auto& message : messages) {
    static_cast<one::Ping&>(*message).set_text(std::string(kMark, 'x'));
    pool.Give(std::move(message));
  }
}

Messages TakeMany(MessagePool& pool) {
  Messages many;
  for (size_t i = 0; i < 3 * MessagePool::kMostKept; ++i) {
    many.push_back(pool.Take(one::Ping::default_instance));
  }
  return many;
}

size_t Kept(const Messages& messages) {
  return static_cast<size_t>(
      std::count_if(messages.begin(), messages.end(),
                    [](const auto& message) { return message->SpaceUsedLong() > kMark; }));
}

TEST(MessagePoolTest, KeepsOnlySoMany) {
  MessagePool pool;
  GiveMarked(pool, TakeMany(pool));
  EXPECT_EQ(Kept(TakeMany(pool)), MessagePool::kMostKept);
}

TEST(MessagePoolTest, AClosedOneKeepsNone) {
  MessagePool pool;
  Messages given_later = TakeMany(pool);
  GiveMarked(pool, TakeMany(pool));
  pool.Close();
  GiveMarked(pool, std::move(given_later));
  EXPECT_EQ(Kept(TakeMany(pool)), 0u);
}

}  // namespace
}  // namespace farcall
