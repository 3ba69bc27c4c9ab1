// SPDX-License-Identifier: Apache-2.0
//
// Client and server as two processes, one of which is killed or stopped at any moment of
// a loaded run: the other one stays healthy. The other process is this program again,
// as a server (--serve ADDRESS) or as a client (--call ADDRESS).

#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <memory>
#include <string>
#include <thread>

#include "absl/strings/string_view.h"
#include "gtest/gtest.h"
#include "rpc/testing/eventually.h"
#include "rpc/testing/process/call_load.h"
#include "rpc/testing/process/test_process.h"
#include "rpc/testing/process_resources.h"
#include "rpc/testing/test_call.h"
#include "rpc/testing/test_peers.h"
#include "transport/testing/test_random.h"

namespace farcall {
namespace {

constexpr int kRounds = 10;
constexpr uint64_t kLatestKill = 100;  // calls after the first

void Say(const std::string& line) {
  std::printf("%s\n", line.c_str());
  std::fflush(stdout);
}

[[noreturn]] void Serve(const std::string& address) {
  TestServer server(EchoBack, {}, address);
  Say(server.address());
  for (;;) ::pause();
}

[[noreturn]] void CallAllTheTime(const std::string& address) {
  TestClient client(address);
  CallLoad load(client.channel());
  while (load.succeeded() == 0) std::this_thread::yield();
  Say("calling");
  for (;;) ::pause();
}

// A server in a process of its own.
class RemoteServer {
 public:
  explicit RemoteServer(const std::string& address = "127.0.0.1:0")
      : process_({"--serve", address}) {
    const auto line = process_.ReadLine();
    Check(line.has_value(), "a server starts and tells its address");
    address_ = *line;
  }
  const std::string& address() const { return address_; }
  TestProcess& process() { return process_; }

 private:
  TestProcess process_;
  std::string address_;
};

// Some moment of a run: so many calls later as `random` says.
bool GoOn(const CallLoad& load, TestRandom& random) {
  const int until = load.succeeded() + 1 + static_cast<int>(random.Below(kLatestKill));
  return Eventually([&] { return load.succeeded() >= until; });
}

TEST(KillTest, OfTheServerEndsEachCallOnceAndItsSuccessorIsFound) {
  TestRandom random(1);
  auto server = std::make_unique<RemoteServer>();
  const std::string address = server->address();
  TestClient client(address);
  CallLoad load(client.channel());
  for (int round = 0; round < kRounds; ++round) {
    ASSERT_TRUE(GoOn(load, random)) << round;
    const int failed = load.failed();
    server->process().Kill();
    ASSERT_TRUE(Eventually([&] { return load.failed() > failed; })) << round;
    ASSERT_EQ(load.wrong(), 0) << round;
    server = std::make_unique<RemoteServer>(address);
  }
  EXPECT_TRUE(Eventually([&] { return TestCall().Call(client.channel()).Echoed(); }));
  load.Stop();
  EXPECT_EQ(load.wrong(), 0);
  client.Destroy();
  EXPECT_TRUE(Eventually([&] { return client.runtime().used_bytes() == 0; }));
}

TEST(KillTest, OfAClientLeavesTheServerHealthy) {
  TestRandom random(2);
  TestServer server;
  const size_t files = OpenDescriptors();
  {
    TestClient healthy(server.address());
    CallLoad load(healthy.channel());
    for (int round = 0; round < kRounds; ++round) {
      TestProcess client({"--call", server.address()});
      ASSERT_EQ(client.ReadLine(), "calling");
      EXPECT_TRUE(Eventually([&] { return server.server().connection_count() == 2; })) << round;
      EXPECT_TRUE(GoOn(load, random)) << round;
      client.Kill();
      EXPECT_TRUE(Eventually([&] { return server.server().connection_count() == 1; })) << round;
      const int succeeded = load.succeeded();
      EXPECT_TRUE(Eventually([&] { return load.succeeded() > succeeded + 100; })) << round;
    }
    load.Stop();
    EXPECT_EQ(load.failed(), 0);
    EXPECT_EQ(load.wrong(), 0);
  }
  EXPECT_TRUE(Eventually([&] { return server.server().connection_count() == 0; }));
  EXPECT_TRUE(Eventually([&] { return server.runtime().used_bytes() == 0; }))
      << server.runtime().used_bytes() << " bytes did not come home";
  EXPECT_TRUE(Eventually([&] { return OpenDescriptors() <= files; }))
      << OpenDescriptors() << " of " << files;
}

TEST(KillTest, AServerThatIsStoppedTimesOutAndGoesOnWhereItWas) {
  RemoteServer server;
  TestClient client(server.address());
  TestCall before;
  ASSERT_TRUE(before.Call(client.channel()).Echoed()) << before.Error();
  for (int round = 0; round < 3; ++round) {
    server.process().Pause();
    constexpr int kCalls = 64;
    std::vector<TestCall> calls(kCalls);
    for (TestCall& call : calls) {
      call.controller.set_timeout_ms(50);
      call.controller.request_attachment().Append(std::string(size_t{100} << 10, 'x'));
      call.Start(client.channel());
    }
    for (TestCall& call : calls) {
      ASSERT_TRUE(call.Wait());
      EXPECT_EQ(call.controller.ErrorCode(), kRpcTimedOut) << call.Error();
    }
    server.process().Continue();
    TestCall after;
    EXPECT_TRUE(after.Call(client.channel()).Echoed()) << after.Error();
    EXPECT_EQ(after.controller.connection(), before.controller.connection());
  }
}

TEST(KillTest, AClientThatIsStoppedHoldsUpNobodyElse) {
  TestServer server;
  TestProcess client({"--call", server.address()});
  ASSERT_EQ(client.ReadLine(), "calling");
  client.Pause();
  TestClient healthy(server.address());
  for (int i = 0; i < 100; ++i) {
    TestCall call;
    ASSERT_TRUE(call.Call(healthy.channel()).Echoed()) << call.Error();
  }
  client.Continue();
  const int runs = server.service().runs();
  EXPECT_TRUE(Eventually([&] { return server.service().runs() > runs; }));
}

}  // namespace
}  // namespace farcall

int main(int argc, char** argv) {
  const absl::string_view role = argc == 3 ? argv[1] : "";
  if (role == "--serve" || role == "--call") {
    farcall::EndWithParent();
    if (role == "--serve") farcall::Serve(argv[2]);
    farcall::CallAllTheTime(argv[2]);
  }
  ::testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
