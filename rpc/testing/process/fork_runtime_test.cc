// SPDX-License-Identifier: Apache-2.0
//
// A child of fork(2) that makes a runtime of its own beside the dead one of its parent. It makes
// threads, which ThreadSanitizer does not bear in a child of a program with threads.

#include <memory>

#include "gtest/gtest.h"
#include "rpc/testing/process/child_process.h"
#include "rpc/testing/test_call.h"
#include "rpc/testing/test_peers.h"

namespace farcall {
namespace {

// What a child says by its exit status.
constexpr int kFine = 0;

// A whole client and server of its own.
bool ServesItself() {
  TestServer server;
  TestClient client(server.address());
  return TestCall().Call(client.channel()).Echoed();
}

TEST(ForkRuntimeTest, AChildMayHaveOneOfItsOwn) {
  EXPECT_TRUE(ServesItself());
  TestServer server;
  TestClient client(server.address());
  ASSERT_TRUE(TestCall().Call(client.channel()).Echoed());
  EXPECT_EQ(InChild([] { return ServesItself() ? kFine : 1; }), kFine);
}

TEST(ForkRuntimeTest, TheDefaultRuntimeIsAnotherOneInTheChild) {
  TestServer server;
  const auto here = Runtime::Default();
  ASSERT_TRUE(here.ok());
  EXPECT_EQ(InChild([&] {
              const auto there = Runtime::Default();
              if (!there.ok() || *there == *here || *Runtime::Default() != *there) return 1;
              const auto channel = Channel::Create(server.address(), Patient());
              if (!channel.ok()) return 2;
              return TestCall().Call(**channel).Echoed() ? kFine : 3;
            }),
            kFine);
  EXPECT_EQ(*Runtime::Default(), *here);
}

// Inline: the thread drives a loop of the parent.
TEST(ForkRuntimeTest, AChildOfAHandlerMayHaveOneToo) {
  for (const ServerOptions& options : {Inline(), ServerOptions(), OnPool()}) {
    TestServer server(
        [](Controller& controller, const test::EchoRequest& request, test::EchoResponse& response,
           google::protobuf::Closure* done) {
          const int status = InChild([] { return ServesItself() ? kFine : 1; });
          if (status != kFine) controller.SetFailed(status, "the child");
          EchoBack(controller, request, response, done);
        },
        options);
    TestClient client(server.address());
    TestCall call;
    EXPECT_TRUE(call.Call(client.channel()).Echoed())
        << options.handler_threads << ": " << call.Error();
  }
}

}  // namespace
}  // namespace farcall
