// SPDX-License-Identifier: Apache-2.0
//
// No byte of an attachment is copied between the socket and the user: what counts blocks and
// what tells when memory is given back shows it.

#include <atomic>
#include <string>

#include "gtest/gtest.h"
#include "rpc/testing/eventually.h"
#include "rpc/testing/large_attachments.h"
#include "rpc/testing/raw_peer.h"
#include "rpc/testing/test_call.h"
#include "rpc/testing/test_peers.h"

namespace farcall {
namespace {

// More than the kernel takes from a sender whose receiver does not read.
constexpr size_t kBytes = 32 * kMiB;
// The largest blocks have 2 MiB. What is not copied takes a few small ones.
constexpr uint64_t kBlocksOfACopy = 16;

// Takes the request in and answers without an attachment.
void Swallow(Controller&, const test::EchoRequest& request, test::EchoResponse& response,
             google::protobuf::Closure* done) {
  response.set_message(request.message());
  done->Run();
}

TEST(UncopiedTest, OnTheWayOutTakeNoBlock) {
  TestServer server(Swallow, LargeBodiesServer());
  TestClient client(server.address(), LargeBodies());
  ASSERT_TRUE(TestCall().Call(client.channel()).Echoed());
  const uint64_t before = client.runtime().pool().stats().allocations;
  const std::string bytes = PatternBytes(kBytes);
  std::atomic<int> released{0};
  TestCall call;
  call.controller.request_attachment().AppendUserData(bytes.data(), bytes.size(),
                                                      [&] { ++released; });
  ASSERT_TRUE(call.Call(client.channel()).Echoed()) << call.Error();
  EXPECT_LT(client.runtime().pool().stats().allocations - before, kBlocksOfACopy);
  EXPECT_TRUE(Eventually([&] { return released == 1; }));
}

TEST(UncopiedTest, OfTheAnswerLieInTheBlocksThatWereRead) {
  TestServer server(EchoBack, LargeBodiesServer());
  TestClient client(server.address(), LargeBodies());
  TestCall call;
  call.controller.request_attachment().Append(PatternBytes(kBytes));
  ASSERT_TRUE(call.Call(client.channel()).Echoed()) << call.Error();
  EXPECT_GE(client.runtime().used_bytes(), kBytes);
  call.controller.response_attachment().Clear();
  EXPECT_TRUE(Eventually([&] { return client.runtime().used_bytes() < kMiB; }));
}

// The blocks that the handler was given are the blocks that its answer leaves in, so the
// server's pool gives out each byte's block once.
TEST(UncopiedTest, AnEchoSendsTheBlocksThatItRead) {
  std::atomic<uint64_t> allocated{0};
  TestServer* this_server = nullptr;
  TestServer server(
      [&](Controller& controller, const auto& request, auto& response, auto* done) {
        allocated = this_server->runtime().pool().stats().allocations;
        EchoBack(controller, request, response, done);
      },
      LargeBodiesServer());
  this_server = &server;
  TestClient client(server.address(), LargeBodies());
  TestCall call;
  call.controller.request_attachment().Append(PatternBytes(kBytes));
  ASSERT_TRUE(call.Call(client.channel()).Echoed()) << call.Error();
  EXPECT_TRUE(IsPattern(call.controller.response_attachment(), kBytes));
  EXPECT_LT(server.runtime().pool().stats().allocations - allocated, kBlocksOfACopy);
  EXPECT_TRUE(Eventually([&] { return server.runtime().used_bytes() < kMiB; }));
}

TEST(UncopiedTest, OfAHandlerLeaveFromItsOwnMemory) {
  const std::string bytes = PatternBytes(kBytes);
  std::atomic<int> released{0};
  TestServer server([&](Controller& controller, const auto& request, auto& response, auto* done) {
    response.set_message(request.message());
    controller.response_attachment().AppendUserData(bytes.data(), bytes.size(),
                                                    [&] { ++released; });
    done->Run();
  });
  TestClient client(server.address());
  const uint64_t before = server.runtime().pool().stats().allocations;
  TestCall call;
  ASSERT_TRUE(call.Call(client.channel()).Echoed()) << call.Error();
  EXPECT_TRUE(IsPattern(call.controller.response_attachment(), bytes.size()));
  EXPECT_LT(server.runtime().pool().stats().allocations - before, kBlocksOfACopy);
  EXPECT_TRUE(Eventually([&] { return released == 1; }));
}

// While the kernel has not taken the bytes, they are still the user's own.
TEST(UncopiedTest, ARequestsMemoryIsInUseUntilItWasSent) {
  const std::string bytes = PatternBytes(kBytes);
  std::atomic<int> released{0};
  RawListener listener;
  TestClient client(listener.address());
  TestCall call;
  call.controller.request_attachment().AppendUserData(bytes.data(), bytes.size(),
                                                      [&] { ++released; });
  call.Start(client.channel());
  RawPeer peer = listener.Accept();
  peer.LimitReceiveBuffer(64 << 10);
  ASSERT_TRUE(peer.WaitForBytes());
  EXPECT_EQ(released, 0);
  const auto request = peer.Receive();
  ASSERT_TRUE(request.has_value());
  EXPECT_TRUE(IsPattern(request->attachment, kBytes));
  EXPECT_TRUE(Eventually([&] { return released == 1; }));
  peer.Close();
  ASSERT_TRUE(call.Wait());
}

TEST(UncopiedTest, AnAnswersMemoryIsInUseUntilItWasSent) {
  const std::string bytes = PatternBytes(kBytes);
  std::atomic<int> released{0};
  TestServer server([&](Controller& controller, const auto& request, auto& response, auto* done) {
    response.set_message(request.message());
    controller.response_attachment().AppendUserData(bytes.data(), bytes.size(),
                                                    [&] { ++released; });
    done->Run();
  });
  RawPeer peer(server.address());
  peer.LimitReceiveBuffer(64 << 10);
  ASSERT_TRUE(peer.Send(EchoFrame(1)));
  ASSERT_TRUE(peer.WaitForBytes());
  EXPECT_EQ(released, 0);
  const auto answer = peer.Receive();
  ASSERT_TRUE(answer.has_value());
  EXPECT_TRUE(IsPattern(answer->attachment, kBytes));
  EXPECT_TRUE(Eventually([&] { return released == 1; }));
}

}  // namespace
}  // namespace farcall
