// SPDX-License-Identifier: Apache-2.0
//
// Calls that a handler, a message or a name makes fail. The connection stays.

#include <atomic>
#include <stdexcept>
#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "rpc/closure.h"
#include "rpc/testing/raw_peer.h"
#include "rpc/testing/test_call.h"
#include "rpc/testing/test_peers.h"

namespace farcall {
namespace {

// One call fails so; another on the same connection does not.
void ExpectFailure(TestServer& server, int code, absl::string_view text) {
  TestClient client(server.address());
  TestCall call("fail");
  call.Call(client.channel());
  EXPECT_EQ(call.controller.ErrorCode(), code);
  EXPECT_TRUE(absl::StrContains(call.controller.ErrorText(), text)) << call.Error();
  EXPECT_TRUE(call.controller.response_attachment().empty());
  TestCall next("next");
  EXPECT_TRUE(next.Call(client.channel()).Echoed()) << next.Error();
  EXPECT_EQ(next.controller.connection(), call.controller.connection());
}

// `fail` for messages "fail", else EchoBack.
EchoHandler FailOr(EchoHandler fail) {
  return [fail = std::move(fail)](Controller& controller, const test::EchoRequest& request,
                                  test::EchoResponse& response, google::protobuf::Closure* done) {
    (request.message() == "fail" ? fail : EchoBack)(controller, request, response, done);
  };
}

TEST(ErrorsTest, AServiceThatTheServerLacks) {
  TestServer server;
  TestClient client(server.address());
  TestCall call;
  test::MissingService_Stub(&client.channel())
      .Echo(&call.controller, &call.request, &call.response, nullptr);
  EXPECT_EQ(call.controller.ErrorCode(), kNoService);
  EXPECT_EQ(call.controller.ErrorText(), "no service \"farcall.test.MissingService\" here");
  EXPECT_TRUE(absl::IsUnimplemented(call.controller.status()));
  EXPECT_TRUE(TestCall().Call(client.channel()).Echoed());
}

TEST(ErrorsTest, AMethodThatTheServiceLacks) {
  TestServer server;
  RawPeer peer(server.address());
  wire::RpcMeta meta = EchoMeta(9);
  meta.mutable_request()->set_method_name("Sing");
  ASSERT_TRUE(peer.Send(FrameBytes(meta, nullptr)));
  const auto answer = peer.Receive();
  ASSERT_TRUE(answer.has_value());
  EXPECT_EQ(answer->meta.correlation_id(), 9);
  EXPECT_EQ(answer->meta.response().error_code(), kNoMethod);
  EXPECT_EQ(answer->meta.response().error_text(),
            "service farcall.test.TestService has no method \"Sing\"");
}

TEST(ErrorsTest, ARequestWithoutARequiredFieldIsNotSent) {
  TestServer server;
  TestClient client(server.address());
  TestCall call;
  call.request.clear_message();
  call.Call(client.channel());
  EXPECT_EQ(call.controller.ErrorCode(), kBadRequest);
  EXPECT_TRUE(absl::StrContains(call.controller.ErrorText(), "message")) << call.Error();
  EXPECT_EQ(server.server().connection_count(), 0);
}

TEST(ErrorsTest, ARequestWithoutARequiredFieldIsAnswered) {
  TestServer server;
  RawPeer peer(server.address());
  ASSERT_TRUE(peer.Send(FrameBytes(EchoMeta(1), nullptr)));
  const auto empty = peer.Receive();
  ASSERT_TRUE(empty.has_value());
  EXPECT_EQ(empty->meta.response().error_code(), kBadRequest);
  EXPECT_TRUE(absl::StrContains(empty->meta.response().error_text(), "message"));

  ASSERT_TRUE(peer.Send(EchoFrame(2, "good")));
  const auto good = peer.Receive();
  ASSERT_TRUE(good.has_value());
  EXPECT_EQ(good->meta.correlation_id(), 2);
  EXPECT_EQ(good->meta.response().error_code(), 0);
  EXPECT_EQ(server.service().runs(), 1);
}

TEST(ErrorsTest, ARequestThatDoesNotParseIsAnswered) {
  TestServer server;
  RawPeer peer(server.address());
  // A payload that is no message.
  const std::string garbage = "\xff\xff\xff";
  const std::string meta = EchoMeta(1).SerializeAsString();
  const auto meta_size = static_cast<uint32_t>(meta.size());
  ASSERT_TRUE(peer.Send(HeaderBytes(meta_size + 3, meta_size) + meta + garbage));
  const auto answer = peer.Receive();
  ASSERT_TRUE(answer.has_value());
  EXPECT_EQ(answer->meta.response().error_code(), kBadRequest);
  EXPECT_TRUE(absl::StrContains(answer->meta.response().error_text(), "does not parse"));
}

TEST(ErrorsTest, AHandlersOwnCodeAndTextArrive) {
  TestServer server(FailOr([](Controller& controller, const auto&, auto& response, auto* done) {
    response.set_message("not sent");
    controller.response_attachment().Append("nor this");
    controller.SetFailed(123456, "a text of its own");
    done->Run();
  }));
  ExpectFailure(server, 123456, "a text of its own");
}

TEST(ErrorsTest, ALongTextIsCut) {
  TestServer server(FailOr([](Controller& controller, const auto&, auto&, auto* done) {
    controller.SetFailed(std::string(size_t{3} << 20, 'x'));
    done->Run();
  }));
  ExpectFailure(server, kInternal, "xxxxxxxx");
}

TEST(ErrorsTest, AResponseWithoutARequiredField) {
  TestServer server(FailOr([](Controller&, const auto&, auto&, auto* done) { done->Run(); }));
  ExpectFailure(server, kBadResponse, "message");
}

TEST(ErrorsTest, AHandlerThatThrows) {
  for (const ServerOptions& options : {Inline(), ServerOptions(), OnPool()}) {
    TestServer server(FailOr([](Controller&, const auto&, auto&, auto*) {
                        throw std::runtime_error("out of paper");
                      }),
                      options);
    ExpectFailure(server, kInternal, "out of paper");
    EXPECT_EQ(server.log().Count("farcall.test.TestService.Echo threw: out of paper"), 1);
  }
}

// The guard runs the closure while the exception passes: the answer must not be success.
TEST(ErrorsTest, AHandlerThatThrowsUnderAClosureGuard) {
  TestServer server(FailOr([](Controller&, const auto&, auto& response, auto* done) {
    const ClosureGuard answer(done);
    response.set_message("half done");
    throw std::runtime_error("out of paper");
  }));
  ExpectFailure(server, kInternal, "exception");
  EXPECT_TRUE(server.log().Wait("threw: out of paper"));
  EXPECT_EQ(server.log().Count("threw: out of paper"), 1);
}

TEST(ErrorsTest, AHandlerThatThrowsWhatIsNoException) {
  TestServer server(FailOr([](Controller&, const auto&, auto&, auto*) { throw 42; }));
  ExpectFailure(server, kInternal, "exception");
}

TEST(ErrorsTest, AHandlerThatThrowsAfterItHasAnswered) {
  TestServer server([](Controller& controller, const auto& request, auto& response, auto* done) {
    EchoBack(controller, request, response, done);
    throw std::runtime_error("too late");
  });
  TestClient client(server.address());
  TestCall call;
  EXPECT_TRUE(call.Call(client.channel()).Echoed()) << call.Error();
  EXPECT_TRUE(server.log().Wait("threw: too late"));
}

TEST(ErrorsTest, AClosureThatIsRunTwiceAnswersOnce) {
  TestServer server([](Controller& controller, const auto& request, auto& response, auto* done) {
    EchoBack(controller, request, response, done);
    done->Run();
  });
  RawPeer peer(server.address());
  ASSERT_TRUE(peer.Send(EchoFrame(1) + EchoFrame(2)));
  std::atomic<int64_t> sum{0};
  for (int i = 0; i < 2; ++i) {
    const auto answer = peer.Receive();
    ASSERT_TRUE(answer.has_value());
    EXPECT_EQ(answer->meta.response().error_code(), 0);
    sum += answer->meta.correlation_id();
  }
  EXPECT_EQ(sum, 3) << "one answer each";
  EXPECT_TRUE(server.log().Wait("was run twice"));
}

TEST(ErrorsTest, AResponseThatIsNoMessage) {
  RawListener listener;
  TestClient client(listener.address());
  TestCall call;
  call.Start(client.channel());
  RawPeer peer = listener.Accept();
  const auto request = peer.Receive();
  ASSERT_TRUE(request.has_value());
  wire::RpcMeta meta;
  meta.set_correlation_id(request->meta.correlation_id());
  ASSERT_TRUE(peer.Send(FrameBytes(meta, nullptr)));
  ASSERT_TRUE(call.Wait());
  EXPECT_EQ(call.controller.ErrorCode(), kBadResponse);
  EXPECT_TRUE(absl::StrContains(call.controller.ErrorText(), "message")) << call.Error();

  TestCall next;
  next.Start(client.channel());
  const auto second = peer.Receive();
  ASSERT_TRUE(second.has_value());
  meta.set_correlation_id(second->meta.correlation_id());
  test::EchoResponse response;
  response.set_message("hello");
  ASSERT_TRUE(peer.Send(FrameBytes(meta, &response)));
  ASSERT_TRUE(next.Wait());
  EXPECT_TRUE(next.Echoed()) << next.Error();
}

TEST(ErrorsTest, AResponseThatIsNotOfItsCompression) {
  RawListener listener;
  TestClient client(listener.address());
  TestCall call;
  call.Start(client.channel());
  RawPeer peer = listener.Accept();
  const auto request = peer.Receive();
  ASSERT_TRUE(request.has_value());
  wire::RpcMeta meta;
  meta.set_correlation_id(request->meta.correlation_id());
  meta.set_compress_type(wire::COMPRESS_GZIP);
  ASSERT_TRUE(peer.Send(FrameBytes(meta, nullptr)));
  ASSERT_TRUE(call.Wait());
  EXPECT_EQ(call.controller.ErrorCode(), kBadResponse);
  EXPECT_TRUE(absl::StrContains(call.controller.ErrorText(), "malformed")) << call.Error();
}

}  // namespace
}  // namespace farcall
