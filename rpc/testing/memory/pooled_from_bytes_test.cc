// SPDX-License-Identifier: Apache-2.0
//
// Which connection a call takes by the size of its attachments.

#include <cstddef>
#include <string>
#include <utility>

#include "gtest/gtest.h"
#include "rpc/testing/large_attachments.h"
#include "rpc/testing/test_call.h"
#include "rpc/testing/test_peers.h"

namespace farcall {
namespace {

constexpr size_t kBulk = 64 << 10;

class PooledFromBytesTest : public testing::Test {
 protected:
  static ChannelOptions Options(size_t pooled_from_bytes) {
    ChannelOptions options = Patient();
    options.pooled_from_bytes = pooled_from_bytes;
    return options;
  }

  // The client's end of the connection that carries `call`.
  std::string Side(TestClient& client, TestCall& call) {
    EXPECT_TRUE(call.Call(client.channel()).Echoed()) << call.Error();
    return call.controller.local_side();
  }
  std::string SideOfSmall(TestClient& client) {
    TestCall call("small");
    return Side(client, call);
  }
  std::string SideOfPut(TestClient& client, size_t bytes) {
    TestCall call("put");
    call.controller.request_attachment().Append(PatternBytes(bytes));
    return Side(client, call);
  }

  TestServer server_;
};

TEST_F(PooledFromBytesTest, ALargeRequestTakesAConnectionOfItsOwn) {
  TestClient client(server_.address(), Options(kBulk));
  const std::string shared = SideOfSmall(client);
  EXPECT_EQ(SideOfPut(client, kBulk - 1), shared);
  const std::string pooled = SideOfPut(client, kBulk);
  EXPECT_NE(pooled, shared);
  EXPECT_EQ(SideOfPut(client, 10 * kBulk), pooled) << "it is kept for the next one";
  EXPECT_EQ(SideOfSmall(client), shared);
}

TEST_F(PooledFromBytesTest, SoDoesOneWithMemoryForALargeResponse) {
  TestClient client(server_.address(), Options(kBulk));
  const std::string shared = SideOfSmall(client);
  std::string bytes(kBulk, '\0');
  for (const size_t size : {kBulk - 1, kBulk}) {
    TestCall call("get");
    Buffer memory;
    memory.AppendUserData(bytes.data(), size, [] {});
    call.controller.set_response_attachment_memory(std::move(memory));
    EXPECT_EQ(Side(client, call) == shared, size < kBulk) << size;
  }
}

TEST_F(PooledFromBytesTest, WhatTheControllerSaysComesFirst) {
  TestClient client(server_.address(), Options(kBulk));
  const std::string shared = SideOfSmall(client);
  TestCall call("put");
  call.controller.request_attachment().Append(PatternBytes(kBulk));
  call.controller.set_connection_type(CONNECTION_TYPE_SINGLE);
  EXPECT_EQ(Side(client, call), shared);
}

TEST_F(PooledFromBytesTest, NothingIsApartByDefault) {
  TestClient client(server_.address(), Patient());
  EXPECT_EQ(SideOfPut(client, 1 << 20), SideOfSmall(client));
}

}  // namespace
}  // namespace farcall
