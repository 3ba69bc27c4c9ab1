// SPDX-License-Identifier: Apache-2.0

#include "rpc/dispatch/message_pool.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "rpc/dispatch/test_services.pb.h"

namespace farcall {
namespace {

TEST(MessagePoolTest, AMessageComesBackEmpty) {
  MessagePool pool;
  auto first = pool.Take(one::Ping::default_instance());
  static_cast<one::Ping&>(*first).set_text("secret of the last call");
  const google::protobuf::Message* const address = first.get();
  pool.Give(std::move(first));
  const auto second = pool.Take(one::Ping::default_instance());
  EXPECT_EQ(second.get(), address);
  EXPECT_FALSE(static_cast<const one::Ping&>(*second).has_text());
}

TEST(MessagePoolTest, ALargeMessageIsNotKept) {
  MessagePool pool;
  auto large = pool.Take(one::Ping::default_instance());
  static_cast<one::Ping&>(*large).set_text(std::string(100'000, 'x'));
  pool.Give(std::move(large));
  const auto next = pool.Take(one::Ping::default_instance());
  EXPECT_LT(next->SpaceUsedLong(), 1000u);
}

// A cleared field keeps its memory, which counts although the message is empty.
TEST(MessagePoolTest, AMessageThatHasGrownUnseenIsNotKeptForLong) {
  MessagePool pool;
  auto grown = pool.Take(one::Ping::default_instance());
  static_cast<one::Ping&>(*grown).set_text(std::string(10'000'000, 'x'));
  grown->Clear();
  const google::protobuf::Message* const address = grown.get();
  uint32_t times = 0;
  while (grown.get() == address && ++times <= 2 * MessagePool::kLookEvery) {
    pool.Give(std::move(grown));
    grown = pool.Take(one::Ping::default_instance());
    if (grown->SpaceUsedLong() < 1000) break;
  }
  EXPECT_LE(times, MessagePool::kLookEvery);
}

TEST(MessagePoolTest, KeepsOnlySoMany) {
  MessagePool pool;
  std::vector<std::unique_ptr<google::protobuf::Message>> many;
  for (size_t i = 0; i < 3 * MessagePool::kMostKept; ++i) {
    many.push_back(pool.Take(one::Ping::default_instance()));
  }
  for (auto& message : many) pool.Give(std::move(message));  // the rest dies here
}

TEST(MessagePoolTest, AClosedOneKeepsNone) {
  MessagePool pool;
  pool.Give(pool.Take(one::Ping::default_instance()));
  pool.Close();
  pool.Give(pool.Take(one::Ping::default_instance()));  // destroyed at once; the type may be gone
}

}  // namespace
}  // namespace farcall
