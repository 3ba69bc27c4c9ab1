// SPDX-License-Identifier: Apache-2.0
//
// Servers that answer with what is no answer.

#include <string>

#include "absl/strings/match.h"
#include "gtest/gtest.h"
#include "rpc/testing/raw_peer.h"
#include "rpc/testing/test_call.h"
#include "rpc/testing/test_peers.h"

namespace farcall {
namespace {

class MalformedAnswerTest : public ::testing::Test {
 protected:
  void ExpectFailure(absl::string_view bytes, absl::string_view reason) {
    TestCall call;
    call.Start(client_.channel());
    RawPeer peer = listener_.Accept();
    ASSERT_TRUE(peer.Receive().has_value());
    peer.Send(bytes);
    ASSERT_TRUE(call.Wait());
    EXPECT_EQ(call.controller.ErrorCode(), kFailedSocket);
    EXPECT_TRUE(absl::StrContains(call.controller.ErrorText(), reason)) << call.Error();
    EXPECT_TRUE(peer.WaitForEnd());
  }

  RawListener listener_;
  TestClient client_{listener_.address()};
};

TEST_F(MalformedAnswerTest, EndsTheConnectionAndTheNextCallConnectsAgain) {
  ExpectFailure("HTTP/1.1 400 Bad Request\r\n\r\n", "no RPC frame");
  ExpectFailure(HeaderBytes(UINT32_MAX, 2) + std::string("\x20\x00", 2),
                "has 4294967295 bytes, over max_body_size");
  ExpectFailure(HeaderBytes(10, 11) + "0123456789", "is larger than its body");
  ExpectFailure(HeaderBytes(10, 10) + std::string(10, '\xff'), "does not parse");
}

TEST_F(MalformedAnswerTest, ForNobodyIsIgnored) {
  TestCall call;
  call.Start(client_.channel());
  RawPeer peer = listener_.Accept();
  const auto request = peer.Receive();
  ASSERT_TRUE(request.has_value());
  test::EchoResponse response;
  response.set_message("hello");
  wire::RpcMeta meta;
  std::string bytes;
  for (const int64_t stranger : {int64_t{0}, int64_t{-1}, int64_t{12345}}) {
    meta.set_correlation_id(stranger);
    bytes += FrameBytes(meta, &response, "attached");
  }
  meta.set_correlation_id(request->meta.correlation_id());
  // The second is late.
  bytes += FrameBytes(meta, &response) + FrameBytes(meta, &response);
  ASSERT_TRUE(peer.Send(bytes));
  ASSERT_TRUE(call.Wait());
  EXPECT_TRUE(call.Echoed()) << call.Error();
  EXPECT_TRUE(call.controller.response_attachment().empty());
}

TEST_F(MalformedAnswerTest, OfHalfAFrameFailsTheCall) {
  TestCall call;
  call.Start(client_.channel());
  RawPeer peer = listener_.Accept();
  ASSERT_TRUE(peer.Receive().has_value());
  ASSERT_TRUE(peer.Send(HeaderBytes(100, 10)));
  peer.Close();
  ASSERT_TRUE(call.Wait());
  EXPECT_EQ(call.controller.ErrorCode(), kFailedSocket);
  EXPECT_TRUE(absl::StrContains(call.controller.ErrorText(), "closed by peer")) << call.Error();
}

}  // namespace
}  // namespace farcall
