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

CallMessages Make() { return {std::make_unique<one::Ping>(), std::make_unique<one::Ping>()}; }

one::Ping& RequestOf(const CallMessages& messages) {
  return static_cast<one::Ping&>(*messages.request);
}
one::Ping& ResponseOf(const CallMessages& messages) {
  return static_cast<one::Ping&>(*messages.response);
}

TEST(MessagePoolTest, MessagesComeBackEmpty) {
  MessagePool pool;
  auto first = pool.Take(Make);
  RequestOf(*first).set_text("secret of the last call");
  ResponseOf(*first).set_text("its answer");
  const CallMessages* const address = first.get();
  pool.Give(std::move(first));
  const auto second = pool.Take(Make);
  EXPECT_EQ(second.get(), address);
  EXPECT_FALSE(RequestOf(*second).has_text());
  EXPECT_FALSE(ResponseOf(*second).has_text());
}

TEST(MessagePoolTest, WhereEitherIsLargeNoneIsKept) {
  for (const bool request : {true, false}) {
    for (const bool measured : {true, false}) {
      MessagePool pool;
      auto large = pool.Take(Make);
      const std::string text(100'000, 'x');
      request ? RequestOf(*large).set_text(text) : ResponseOf(*large).set_text(text);
      const size_t request_bytes = large->request->ByteSizeLong();
      const size_t response_bytes = large->response->ByteSizeLong();
      measured ? pool.Give(std::move(large), request_bytes, response_bytes)
               : pool.Give(std::move(large));
      const auto next = pool.Take(Make);
      EXPECT_LT(next->request->SpaceUsedLong() + next->response->SpaceUsedLong(), 1000u);
    }
  }
}

// A cleared field keeps its memory, which counts although the message is empty.
TEST(MessagePoolTest, MessagesThatHaveGrownUnseenAreNotKeptForLong) {
  for (const bool request : {true, false}) {
    MessagePool pool;
    auto grown = pool.Take(Make);
    const std::string text(10'000'000, 'x');
    request ? RequestOf(*grown).set_text(text) : ResponseOf(*grown).set_text(text);
    grown->request->Clear();
    grown->response->Clear();
    const CallMessages* const address = grown.get();
    uint32_t times = 0;
    while (grown.get() == address && ++times <= 2 * MessagePool::kLookEvery) {
      pool.Give(std::move(grown));
      grown = pool.Take(Make);
      if (grown->request->SpaceUsedLong() + grown->response->SpaceUsedLong() < 1000) break;
    }
    EXPECT_LE(times, MessagePool::kLookEvery);
  }
}

using Messages = std::vector<std::unique_ptr<CallMessages>>;

// What each of them keeps when it is cleared tells it from a new one.
constexpr size_t kMark = 1000;

void GiveMarked(MessagePool& pool, Messages messages) {
  for (auto& one : messages) {
    RequestOf(*one).set_text(std::string(kMark, 'x'));
    pool.Give(std::move(one));
  }
}

Messages TakeMany(MessagePool& pool) {
  Messages many;
  for (size_t i = 0; i < 3 * MessagePool::kMaxKept; ++i) many.push_back(pool.Take(Make));
  return many;
}

size_t Kept(const Messages& messages) {
  return static_cast<size_t>(std::count_if(messages.begin(), messages.end(), [](const auto& one) {
    return one->request->SpaceUsedLong() > kMark;
  }));
}

TEST(MessagePoolTest, KeepsOnlySoMany) {
  MessagePool pool;
  GiveMarked(pool, TakeMany(pool));
  EXPECT_EQ(Kept(TakeMany(pool)), MessagePool::kMaxKept);
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
