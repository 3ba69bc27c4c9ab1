// SPDX-License-Identifier: Apache-2.0
//
// Attachments arrive whole, and the memory of their senders is given back once.

#include <atomic>
#include <string>

#include "gtest/gtest.h"
#include "rpc/testing/eventually.h"
#include "rpc/testing/large_attachments.h"
#include "rpc/testing/test_call.h"
#include "rpc/testing/test_peers.h"

namespace farcall {
namespace {

TEST(AttachmentsTest, GoBothWaysBesideTheMessage) {
  TestServer server([](Controller& controller, const auto& request, auto& response, auto* done) {
    response.set_message(request.message());
    EXPECT_EQ(controller.request_attachment().ToString(), "to the server");
    controller.response_attachment().Append("to the client");
    done->Run();
  });
  TestClient client(server.address());
  TestCall call;
  call.controller.request_attachment().Append("to the server");
  ASSERT_TRUE(call.Call(client.channel()).Echoed()) << call.Error();
  EXPECT_EQ(call.controller.response_attachment().ToString(), "to the client");
  EXPECT_TRUE(call.controller.request_attachment().empty()) << "it was taken";
}

TEST(AttachmentsTest, OfEverySizeArriveWhole) {
  TestServer server;
  TestClient client(server.address());
  const size_t sizes[] = {1,      11,      12,       8191,     8192,         8193,         65535,
                          65'536, 100'000, kMiB - 1, 2 * kMiB, 2 * kMiB + 1, 5 * kMiB + 13};
  for (const size_t size : sizes) {
    TestCall call;
    call.controller.request_attachment().Append(PatternBytes(size));
    ASSERT_TRUE(call.Call(client.channel()).Echoed()) << size << ": " << call.Error();
    EXPECT_TRUE(IsPattern(call.controller.response_attachment(), size)) << size;
  }
}

TEST(AttachmentsTest, Of64MiBGoThereAndBack) {
  constexpr size_t kBytes = 64 * kMiB;
  TestServer server(EchoBack, LargeBodiesServer());
  TestClient client(server.address(), LargeBodies());
  const std::string bytes = PatternBytes(kBytes);
  std::atomic<int> released{0};
  TestCall call;
  call.controller.request_attachment().AppendUserData(bytes.data(), bytes.size(),
                                                      [&] { ++released; });
  ASSERT_TRUE(call.Call(client.channel()).Echoed()) << call.Error();
  EXPECT_TRUE(IsPattern(call.controller.response_attachment(), kBytes));
  EXPECT_TRUE(Eventually([&] { return released == 1; }));
}

// Whatever becomes of the call, the memory is given back, once.
class ReleaseTest : public ::testing::Test {
 protected:
  void Attach(Controller& controller) {
    controller.request_attachment().AppendUserData(bytes_.data(), bytes_.size(),
                                                   [this] { ++released_; });
  }
  void ExpectReleased() {
    EXPECT_TRUE(Eventually([&] { return released_ > 0; }));
    EXPECT_EQ(released_, 1);
  }

 private:
  const std::string bytes_ = PatternBytes(3 * kMiB);
  std::atomic<int> released_{0};
};

TEST_F(ReleaseTest, WhenNobodyListens) {
  std::string closed;
  {
    TestServer server;
    closed = server.address();
  }
  TestClient client(closed);
  TestCall call;
  Attach(call.controller);
  EXPECT_EQ(call.Call(client.channel()).controller.ErrorCode(), kFailedSocket);
  ExpectReleased();
}

TEST_F(ReleaseTest, WhenTheRequestCannotBeEncoded) {
  TestServer server;
  TestClient client(server.address());
  TestCall call;
  call.request.clear_message();
  Attach(call.controller);
  EXPECT_EQ(call.Call(client.channel()).controller.ErrorCode(), kBadRequest);
  ExpectReleased();
}

TEST_F(ReleaseTest, WhenTheAnswerIsAnError) {
  TestServer server([](Controller& controller, const auto&, auto&, auto* done) {
    controller.response_attachment().Append("not sent");
    controller.SetFailed(42, "no");
    done->Run();
  });
  TestClient client(server.address());
  TestCall call;
  Attach(call.controller);
  EXPECT_EQ(call.Call(client.channel()).controller.ErrorCode(), 42);
  EXPECT_TRUE(call.controller.response_attachment().empty());
  ExpectReleased();
}

}  // namespace
}  // namespace farcall
