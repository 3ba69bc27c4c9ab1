// SPDX-License-Identifier: Apache-2.0
//
// What is over max_body_size hurts no other call.

#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "rpc/testing/test_call.h"
#include "rpc/testing/test_peers.h"

namespace farcall {
namespace {

// One after the other, all under way at once. `large`: which of them is of 4 MiB.
void PutAll(Channel& channel, std::vector<TestCall>& calls, size_t large) {
  for (size_t i = 0; i < calls.size(); ++i) {
    const size_t bytes = i == large ? size_t{4} << 20 : size_t{64} << 10;
    calls[i].controller.request_attachment().Append(std::string(bytes, 'x'));
    calls[i].Start(channel);
  }
  for (TestCall& call : calls) ASSERT_TRUE(call.Wait());
}

TEST(LimitsTest, ARequestOverTheServersMaxBodySizeHurtsNoOther) {
  ServerOptions options;
  options.max_body_size = 1'100'000;
  TestServer one(EchoBack, options);
  TestServer two(EchoBack, options);
  ChannelOptions channel = Patient();
  channel.max_retry = 3;
  TestClient client(absl::StrCat("list://", one.address(), ",", two.address()), channel);
  for (int round = 0; round < 3; ++round) {
    constexpr size_t kLarge = 200;
    std::vector<TestCall> calls(400);
    PutAll(client.channel(), calls, kLarge);
    for (size_t i = 0; i < calls.size(); ++i) {
      EXPECT_EQ(calls[i].Echoed(), i != kLarge) << calls[i].Error();
      EXPECT_EQ(calls[i].controller.retried_count(), 0) << i;
    }
    EXPECT_EQ(calls[kLarge].controller.ErrorCode(), kBadRequest);
    EXPECT_TRUE(absl::StrContains(calls[kLarge].controller.ErrorText(), "1100000"))
        << calls[kLarge].Error();
  }
  EXPECT_LE(one.log().Count("is over max_body_size"), 1) << "then it is not sent any more";
  EXPECT_LE(two.log().Count("is over max_body_size"), 1);
  EXPECT_EQ(one.server().connection_count() + two.server().connection_count(), 2);
}

TEST(LimitsTest, AResponseOverTheChannelsMaxBodySizeHurtsNoOther) {
  TestServer server;
  ChannelOptions options = Patient();
  options.max_body_size = 64 << 10;
  TestClient client(server.address(), options);
  constexpr size_t kLarge = 20;
  std::vector<TestCall> calls(40);
  for (size_t i = 0; i < calls.size(); ++i) {
    const size_t bytes = i == kLarge ? size_t{1} << 20 : 1000;
    calls[i].controller.request_attachment().Append(std::string(bytes, 'x'));
    calls[i].Start(client.channel());
  }
  for (size_t i = 0; i < calls.size(); ++i) {
    ASSERT_TRUE(calls[i].Wait());
    EXPECT_EQ(calls[i].Echoed(), i != kLarge) << calls[i].Error();
  }
  EXPECT_EQ(calls[kLarge].controller.ErrorCode(), kBadResponse);
  EXPECT_TRUE(absl::StrContains(calls[kLarge].controller.ErrorText(), "max_body_size"))
      << calls[kLarge].Error();
  EXPECT_EQ(server.server().connection_count(), 1);
}

}  // namespace
}  // namespace farcall
