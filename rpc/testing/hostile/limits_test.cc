// SPDX-License-Identifier: Apache-2.0
//
// What is over a limit fails at once, or waits where it costs nothing; the rest goes on.

#include <string>
#include <thread>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "rpc/testing/eventually.h"
#include "rpc/testing/kept_answers.h"
#include "rpc/testing/leaping_runtime.h"
#include "rpc/testing/raw_peer.h"
#include "rpc/testing/test_call.h"
#include "rpc/testing/test_peers.h"
#include "transport/testing/temp_dir.h"

namespace farcall {
namespace {

constexpr size_t kMiB = size_t{1} << 20;

void ExpectAllEchoed(std::vector<TestCall>& calls) {
  for (TestCall& call : calls) {
    ASSERT_TRUE(call.Wait());
    EXPECT_TRUE(call.Echoed()) << call.Error();
  }
}

TEST(LimitsTest, BeyondMaxConcurrencyRequestsAreRefused) {
  KeptAnswers kept;
  ServerOptions options;
  options.max_concurrency = 3;
  TestServer server(kept.Handler(), options);
  TestClient client(server.address());
  std::vector<TestCall> calls(3);
  for (TestCall& call : calls) call.Start(client.channel());
  ASSERT_TRUE(kept.Wait(3));

  TestClient other(server.address());
  TestCall refused;
  refused.Call(other.channel());
  EXPECT_EQ(refused.controller.ErrorCode(), kLimit);
  EXPECT_EQ(refused.controller.ErrorText(), "max_concurrency 3 is reached");
  kept.RunAll();
  ExpectAllEchoed(calls);

  TestCall next;
  next.Start(other.channel());
  ASSERT_TRUE(kept.Wait(4));
  kept.RunAll();
  ASSERT_TRUE(next.Wait());
  EXPECT_TRUE(next.Echoed()) << next.Error();
}

TEST(LimitsTest, OneMethodHasALimitOfItsOwn) {
  KeptAnswers kept;
  ScriptedService service(kept.Handler());
  TestRuntime runtime;
  Server server;
  ASSERT_TRUE(server.AddService(&service, SERVER_DOESNT_OWN_SERVICE).ok());
  server.MaxConcurrencyOf("TestService.Echo") = 2;
  ServerOptions options;
  options.runtime = &*runtime;
  ASSERT_TRUE(server.Start("127.0.0.1:0", options).ok());
  TestClient client(server.listen_address().ToString());
  std::vector<TestCall> calls(3);
  for (int i = 0; i < 2; ++i) calls[i].Start(client.channel());
  ASSERT_TRUE(kept.Wait(2));
  TestCall refused;
  refused.Call(client.channel());
  EXPECT_EQ(refused.controller.ErrorCode(), kLimit);
  EXPECT_TRUE(absl::StrContains(refused.controller.ErrorText(),
                                "max_concurrency 2 of farcall.test.TestService.Echo is reached"))
      << refused.Error();
  // Others are not its business, and it may be changed while the server runs.
  Controller idle;
  test::Nothing nothing;
  test::TestService_Stub(&client.channel()).Idle(&idle, &nothing, &nothing, nullptr);
  EXPECT_FALSE(idle.Failed()) << idle.ErrorText();
  EXPECT_EQ(server.MaxConcurrencyOf("farcall.test.TestService.Echo").max().number(), 2);
  server.MaxConcurrencyOf("farcall.test.TestService.Echo") = 3;
  calls[2].Start(client.channel());
  ASSERT_TRUE(kept.Wait(3));
  kept.RunAll();
  ExpectAllEchoed(calls);
  server.MaxConcurrencyOf("TestService.Echo") = -1;
  EXPECT_EQ(server.MaxConcurrencyOf("TestService.Echo").now(), 0) << "no limit";
  server.MaxConcurrencyOf("TestService.Echo") = MaxConcurrency::Auto();
  EXPECT_TRUE(server.MaxConcurrencyOf("TestService.Echo").max().is_auto());
  EXPECT_GT(server.MaxConcurrencyOf("TestService.Echo").now(), 0);
  server.MaxConcurrencyOf("TestService.Ecco") = 1;
  EXPECT_TRUE(runtime.log().Wait("MaxConcurrencyOf: the server has no method"));
}

TEST(LimitsTest, ALimitOfAMethodThatIsNotThereIsAnErrorOfStart) {
  ScriptedService service(EchoBack);
  Server server;
  ASSERT_TRUE(server.AddService(&service, SERVER_DOESNT_OWN_SERVICE).ok());
  server.MaxConcurrencyOf("TestService.Ecco") = 2;
  const absl::Status started = server.Start("127.0.0.1:0");
  EXPECT_TRUE(absl::IsNotFound(started)) << started;
  EXPECT_TRUE(absl::StrContains(started.message(), "TestService.Ecco"));
}

// Over the limit of one connection requests wait, whether they come alone or together.
TEST(LimitsTest, BeyondMaxConcurrencyPerConnectionRequestsWait) {
  KeptAnswers kept;
  ServerOptions options;
  options.max_concurrency_per_connection = 2;
  TestServer server(kept.Handler(), options);
  RawPeer peer(server.address());
  std::string frames;
  constexpr int kCalls = 10;
  for (int i = 1; i <= kCalls; ++i) frames += EchoFrame(i);
  ASSERT_TRUE(peer.Send(frames));
  for (int answered = 0; answered < kCalls; answered += 2) {
    ASSERT_TRUE(kept.Wait(answered + 2));
    EXPECT_EQ(server.service().runs(), answered + 2);
    // Others are served meanwhile.
    RawPeer other(server.address());
    wire::RpcMeta meta = EchoMeta(1);
    meta.mutable_request()->set_method_name("Idle");
    ASSERT_TRUE(other.Send(FrameBytes(meta, nullptr)));
    EXPECT_TRUE(other.Receive().has_value());
    EXPECT_EQ(server.service().runs(), answered + 2);
    kept.RunAll();
  }
  for (int i = 0; i < kCalls; ++i) ASSERT_TRUE(peer.Receive().has_value());
}

TEST(LimitsTest, BeyondMaxPendingCallsNewOnesFail) {
  KeptAnswers kept;
  TestServer server(kept.Handler());
  ChannelOptions options = Patient();
  options.max_pending_calls = 4;
  TestClient client(server.address(), options);
  std::vector<TestCall> calls(4);
  for (TestCall& call : calls) call.Start(client.channel());
  ASSERT_TRUE(kept.Wait(4));
  TestCall fifth;
  fifth.Call(client.channel());
  EXPECT_EQ(fifth.controller.ErrorCode(), kOvercrowded);
  EXPECT_TRUE(absl::StrContains(fifth.controller.ErrorText(), "max_pending_calls"));
  EXPECT_TRUE(absl::IsResourceExhausted(fifth.controller.status()));
  kept.RunAll();
  ExpectAllEchoed(calls);
}

TEST(LimitsTest, BeyondMaxBacklogNewCallsFail) {
  const std::string bytes(4 * kMiB, 'x');
  RawListener listener;
  ChannelOptions options = Patient();
  options.max_backlog = kMiB;
  TestClient client(listener.address(), options);
  TestCall first;
  first.Start(client.channel());
  RawPeer peer = listener.Accept();
  const auto request = peer.Receive();
  ASSERT_TRUE(request.has_value());
  wire::RpcMeta meta;
  meta.set_correlation_id(request->meta.correlation_id());
  test::EchoResponse response;
  response.set_message("hello");
  ASSERT_TRUE(peer.Send(FrameBytes(meta, &response)));
  ASSERT_TRUE(first.Wait());
  ASSERT_TRUE(first.Echoed()) << first.Error();

  // From here on the peer reads nothing; this is more than the buffers of two sockets hold.
  std::vector<TestCall> calls(40);
  for (TestCall& call : calls) {
    call.controller.request_attachment().AppendUserData(bytes.data(), bytes.size(), [] {});
    call.Start(client.channel());
  }
  TestCall& last = calls.back();
  ASSERT_TRUE(last.Wait());
  EXPECT_EQ(last.controller.ErrorCode(), kOvercrowded) << last.Error();
  EXPECT_TRUE(absl::StrContains(last.controller.ErrorText(), "max_backlog")) << last.Error();
  // One call may go over the limit, and only that one.
  EXPECT_EQ(calls[0].ends(), 0);
  peer.Close();
  ASSERT_TRUE(calls[0].Wait());
  EXPECT_EQ(calls[0].controller.ErrorCode(), kFailedSocket) << calls[0].Error();
}

TEST(LimitsTest, MaxBacklogHoldsBeforeThereIsAConnection) {
  const TempDir dir;
  FullListener full(dir.path() + "/full");
  ChannelOptions options = Patient();
  options.max_backlog = 64 << 10;
  LeapingRuntime runtime;
  const auto channel = OpenChannel(absl::StrCat("unix:", dir.path(), "/full"), *runtime, options);
  TestCall large;
  large.controller.set_timeout_ms(-1);
  large.controller.request_attachment().Append(std::string(kMiB, 'x'));
  large.Start(*channel);
  TestCall refused;
  refused.Call(*channel);
  EXPECT_EQ(refused.controller.ErrorCode(), kOvercrowded) << refused.Error();
  EXPECT_EQ(large.ends(), 0);
  ASSERT_TRUE(runtime.LeapUntil([&] { return large.ends() > 0; }));
  EXPECT_EQ(large.controller.ErrorCode(), kFailedSocket) << large.Error();
}

// A client that does not read its answers: the server stops reading its requests, so that
// what waits for it is bounded; it is served to the end when it reads.
TEST(LimitsTest, AClientThatReadsSlowlyHoldsUpNobodyElse) {
  TestServer server(EchoBack, Inline());
  constexpr int kCalls = 48;
  RawPeer slow(server.address());
  slow.LimitReceiveBuffer(64 << 10);
  std::thread sender([&] {
    const std::string attachment(kMiB, 'x');
    test::EchoRequest request;
    request.set_message("slow");
    for (int i = 1; i <= kCalls; ++i) {
      ASSERT_TRUE(slow.Send(FrameBytes(EchoMeta(i), &request, attachment)));
    }
  });
  // High water, and what the kernel takes from a sender: far from all of them. The loop serves
  // another connection of its own many times, and had time to read more.
  TestClient healthy(server.address());
  int of_slow = -1;
  for (int healthy_calls = 0; server.service().runs() - healthy_calls > of_slow;) {
    of_slow = server.service().runs() - healthy_calls;
    for (int i = 0; i < 50; ++i, ++healthy_calls) {
      TestCall call;
      ASSERT_TRUE(call.Call(healthy.channel()).Echoed()) << call.Error();
    }
  }
  EXPECT_LE(of_slow, kCalls / 2);
  EXPECT_LT(server.runtime().used_bytes(), kCalls / 2 * kMiB);
  for (int i = 1; i <= kCalls; ++i) {
    const auto answer = slow.Receive();
    ASSERT_TRUE(answer.has_value()) << i;
    EXPECT_EQ(answer->meta.correlation_id(), i);
    EXPECT_EQ(answer->attachment.size(), kMiB);
  }
  sender.join();
}

}  // namespace
}  // namespace farcall
