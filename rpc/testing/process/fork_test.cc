// SPDX-License-Identifier: Apache-2.0
//
// fork(2) and exec(3) in a program with servers, channels and calls under way: in the child all
// of them fail with a clear error, the parent notices nothing, and nothing is inherited. --fds:
// lists its own descriptors.

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <set>
#include <string>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/string_view.h"
#include "gtest/gtest.h"
#include "rpc/testing/eventually.h"
#include "rpc/testing/process/call_load.h"
#include "rpc/testing/process/child_process.h"
#include "rpc/testing/process/quiet_fork.h"
#include "rpc/testing/process/test_process.h"
#include "rpc/testing/test_call.h"
#include "rpc/testing/test_peers.h"

namespace farcall {
namespace {

// What a child says by its exit status.
constexpr int kFine = 0;

std::set<int> OpenFiles() {
  std::set<int> open;
  for (const auto& file : std::filesystem::directory_iterator("/proc/self/fd")) {
    int number = -1;
    if (absl::SimpleAtoi(file.path().filename().string(), &number)) open.insert(number);
  }
  return open;
}

class ForkTest : public ::testing::Test {
 protected:
  ForkTest() : client_(server_.address()) {
    EXPECT_TRUE(before_.Call(client_.channel()).Echoed()) << before_.Error();
  }
  ~ForkTest() override {
    TestCall after;
    EXPECT_TRUE(after.Call(client_.channel()).Echoed()) << after.Error();
    EXPECT_EQ(after.controller.connection(), before_.controller.connection())
        << "the connection is as it was";
  }

  TestServer server_;
  TestClient client_;
  TestCall before_;
};

TEST_F(ForkTest, AChannelOfTheParentFailsItsCallsInTheChild) {
  EXPECT_EQ(InChild([&] {
              TestCall call;
              call.Call(client_.channel());
              if (call.controller.ErrorCode() != kFailedSocket) return 1;
              if (!absl::StrContains(call.controller.ErrorText(), "fork(2)")) return 2;
              TestCall with_closure;
              with_closure.Start(client_.channel());
              if (with_closure.ends() != 1) return 3;
              return with_closure.controller.ErrorCode() == kFailedSocket ? kFine : 4;
            }),
            kFine);
}

TEST_F(ForkTest, ARuntimeOfTheParentMakesNothingInTheChild) {
  EXPECT_EQ(InChild([&] {
              ChannelOptions options;
              options.runtime = &*client_.runtime();
              const auto channel = Channel::Create("127.0.0.1:1", options);
              if (channel.ok() || !absl::StrContains(channel.status().message(), "fork(2)"))
                return 1;
              ServerOptions server_options;
              server_options.runtime = &*client_.runtime();
              Server server;
              const absl::Status started = server.Start("127.0.0.1:0", server_options);
              if (!absl::StrContains(started.message(), "fork(2)")) return 2;
              return absl::StrContains(server_.server().Stop(Duration::zero()).message(), "fork(2)")
                         ? kFine
                         : 3;
            }),
            kFine);
}

TEST_F(ForkTest, WhatTheChildDestroysIsNotDestroyedInTheParent) {
  auto server = std::make_unique<TestServer>();
  auto client = std::make_unique<TestClient>(server->address());
  TestCall before;
  ASSERT_TRUE(before.Call(client->channel()).Echoed());
  EXPECT_EQ(InChild([&] {
              client.reset();
              server.reset();
              return kFine;
            }),
            kFine);
  TestCall after;
  ASSERT_TRUE(after.Call(client->channel()).Echoed()) << after.Error();
  EXPECT_EQ(after.controller.connection(), before.controller.connection());
}

// It would answer the call a second time, on its parent's connection.
TEST(ForkInHandlerTest, AChildThatReturnsFromItIsEnded) {
  for (const ServerOptions& options : {Inline(), ServerOptions(), OnPool()}) {
    TestServer server(
        [](Controller& controller, const test::EchoRequest& request, test::EchoResponse& response,
           google::protobuf::Closure* done) {
          const pid_t child = QuietFork();
          if (child == 0) EndInTime();
          if (child > 0) {
            const int status = WaitForExit(child);
            if (status != -SIGABRT) controller.SetFailed(1000 + status, "the child went on");
          }
          EchoBack(controller, request, response, done);
        },
        options);
    TestClient client(server.address());
    for (int i = 0; i < 3; ++i) {
      TestCall call;
      EXPECT_TRUE(call.Call(client.channel()).Echoed())
          << options.handler_threads << ": " << call.Error();
    }
  }
}

TEST(ExecTest, NoDescriptorIsInherited) {
  const std::set<int> before = OpenFiles();
  TestServer server;
  TestClient client(server.address());
  CallLoad load(client.channel());
  EXPECT_TRUE(Eventually([&] { return load.succeeded() > 100; }));
  TestProcess child({"--fds"});
  int listed = 0;
  for (auto line = child.ReadLine(); line && *line != "end"; line = child.ReadLine()) {
    int number = -1;
    ASSERT_TRUE(absl::SimpleAtoi(*line, &number));
    EXPECT_TRUE(number <= STDERR_FILENO || before.count(number) > 0) << number;
    ++listed;
  }
  EXPECT_GE(listed, 1);
  for (const int number : OpenFiles()) {
    const int flags = ::fcntl(number, F_GETFD);
    if (before.count(number) > 0 || flags < 0) continue;
    EXPECT_NE(flags & FD_CLOEXEC, 0) << number;
  }
  load.Stop();
}

int ListFiles() {
  EndWithParent();
  // Beside the directory that it reads.
  for (const int number : OpenFiles()) {
    if (::fcntl(number, F_GETFD) >= 0) std::printf("%d\n", number);
  }
  std::printf("end\n");
  return 0;
}

}  // namespace
}  // namespace farcall

int main(int argc, char** argv) {
  if (argc == 2 && absl::string_view(argv[1]) == "--fds") return farcall::ListFiles();
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
