// SPDX-License-Identifier: Apache-2.0
//
// A deadline is that of the whole call.

#include <chrono>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "rpc/testing/kept_answers.h"
#include "rpc/testing/leaping_runtime.h"
#include "rpc/testing/raw_peer.h"
#include "rpc/testing/test_call.h"
#include "rpc/testing/test_peers.h"
#include "transport/testing/temp_dir.h"

namespace farcall {
namespace {

// Longer than the machine takes for anything, and shorter than kLater.
constexpr int64_t kTimeoutMs = 20'000;
constexpr std::chrono::seconds kLater(30);

// A client whose calls are timed out by nothing but a leap.
struct LeapingClient {
  LeapingRuntime runtime;
  const std::unique_ptr<Channel> channel;

  explicit LeapingClient(const std::string& target)
      : channel(OpenChannel(target, *runtime, [&] {
          ChannelOptions options = Patient();
          options.timeout_ms = kTimeoutMs;
          options.connect_timeout_ms = 60'000;
          return options;
        }())) {}
};

TEST(DeadlineTest, EndsACallThatNobodyAnswers) {
  KeptAnswers kept;
  TestServer server(kept.Handler());
  LeapingClient client(server.address());
  ASSERT_TRUE(TestCall().controller.deadline() == TimePoint::max());
  TestCall synchronous;
  std::thread time([&] {
    EXPECT_TRUE(kept.Wait(1));
    client.runtime.Leap(kLater);
  });
  synchronous.Call(*client.channel);
  time.join();
  EXPECT_EQ(synchronous.controller.ErrorCode(), kRpcTimedOut);
  EXPECT_EQ(synchronous.controller.ErrorText(),
            absl::StrCat("deadline exceeded: no answer came from ", server.address()));
  EXPECT_TRUE(absl::IsDeadlineExceeded(synchronous.controller.status()));
  EXPECT_GE(synchronous.controller.latency_us(), 1000 * kTimeoutMs);
  EXPECT_EQ(synchronous.controller.remote_side(), server.address());

  TestCall with_closure;
  with_closure.Start(*client.channel);
  ASSERT_TRUE(kept.Wait(2));
  client.runtime.Leap(kLater);
  ASSERT_TRUE(with_closure.Wait());
  EXPECT_EQ(with_closure.controller.ErrorCode(), kRpcTimedOut);
  kept.RunAll();
}

TEST(DeadlineTest, OfTheChannelHoldsWhereTheCallSaysNothing) {
  KeptAnswers kept;
  TestServer server(kept.Handler());
  LeapingClient client(server.address());
  TestCall hasty;
  TestCall patient;
  patient.controller.set_timeout_ms(std::chrono::milliseconds(2 * kLater).count());
  hasty.Start(*client.channel);
  patient.Start(*client.channel);
  ASSERT_TRUE(kept.Wait(2));
  client.runtime.Leap(kLater);
  ASSERT_TRUE(hasty.Wait());
  EXPECT_EQ(hasty.controller.ErrorCode(), kRpcTimedOut);
  kept.RunAll();
  ASSERT_TRUE(patient.Wait());
  EXPECT_TRUE(patient.Echoed()) << patient.Error();
}

TEST(DeadlineTest, CoversConnecting) {
  const TempDir dir;
  const std::string path = dir.path() + "/full";
  FullListener full(path);
  LeapingClient client(absl::StrCat("unix:", path));
  TestCall hasty;
  hasty.Start(*client.channel);
  client.runtime.Leap(Duration::zero());  // the call has come to its loop
  client.runtime.Leap(kLater);
  ASSERT_TRUE(hasty.Wait());
  EXPECT_EQ(hasty.controller.ErrorCode(), kRpcTimedOut);
  EXPECT_EQ(hasty.controller.ErrorText(),
            absl::StrCat("deadline exceeded: there was no connection yet to unix:", path));
  EXPECT_EQ(hasty.controller.connection(), nullptr);

  TestCall patient;
  patient.controller.set_timeout_ms(-1);
  patient.Start(*client.channel);
  ASSERT_TRUE(client.runtime.LeapUntil([&] { return patient.ends() > 0; }));
  EXPECT_EQ(patient.controller.ErrorCode(), kFailedSocket) << patient.Error();
  EXPECT_TRUE(absl::StrContains(patient.controller.ErrorText(), path));
  EXPECT_TRUE(absl::StrContains(patient.controller.ErrorText(), "no answer within 1m"));
}

TEST(DeadlineTest, ThatPassesBeforeThereIsAConnectionKeepsTheRequestFromBeingSent) {
  const TempDir dir;
  const std::string path = dir.path() + "/full";
  FullListener listener(path);
  TestClient client(absl::StrCat("unix:", path));
  TestCall patient("patient");
  TestCall hasty("hasty");
  hasty.controller.set_timeout_ms(20);
  hasty.Start(client.channel());
  patient.Start(client.channel());
  ASSERT_TRUE(hasty.Wait());
  EXPECT_EQ(hasty.controller.ErrorCode(), kRpcTimedOut) << hasty.Error();
  RawPeer peer = listener.MakeRoomAndAccept();
  const auto first = peer.Receive();
  ASSERT_TRUE(first.has_value());
  EXPECT_TRUE(absl::StrContains(first->payload.ToString(), "patient"));
  peer.Close();
  ASSERT_TRUE(patient.Wait());
  EXPECT_EQ(patient.controller.ErrorCode(), kFailedSocket) << patient.Error();
}

// The runtime may go as soon as the calls have ended, even while something of theirs is
// still under way.
TEST(DeadlineTest, LeavesNothingThatOutlivesTheRuntime) {
  const TempDir dir;
  const std::string path = dir.path() + "/full";
  FullListener full(path);
  ChannelOptions options = Patient();
  options.connect_timeout_ms = 100;
  TestClient client(absl::StrCat("unix:", path), options);
  TestCall call;
  call.controller.set_timeout_ms(10);
  EXPECT_EQ(call.Call(client.channel()).controller.ErrorCode(), kRpcTimedOut);
}

TEST(DeadlineTest, ThatIsOverBeforeACallBeginsSendsNothing) {
  TestServer server;
  TestClient client(server.address());
  TestCall call;
  call.controller.set_timeout_ms(0);
  EXPECT_EQ(call.Call(client.channel()).controller.ErrorCode(), kRpcTimedOut);
  EXPECT_TRUE(absl::StrContains(call.controller.ErrorText(), "no time was left"));
  EXPECT_TRUE(TestCall().Call(client.channel()).Echoed());
  EXPECT_EQ(server.service().runs(), 1);
}

TEST(DeadlineTest, AnswersAfterItAreIgnoredAndTheConnectionStays) {
  KeptAnswers kept;
  TestServer server(kept.Handler());
  LeapingClient client(server.address());
  constexpr int kCalls = 5;
  std::vector<TestCall> late(kCalls);
  for (TestCall& call : late) call.Start(*client.channel);
  ASSERT_TRUE(kept.Wait(kCalls));
  client.runtime.Leap(kLater);
  for (TestCall& call : late) {
    ASSERT_TRUE(call.Wait());
    EXPECT_EQ(call.controller.ErrorCode(), kRpcTimedOut);
  }
  TestCall next;
  next.Start(*client.channel);
  ASSERT_TRUE(kept.Wait(kCalls + 1));
  // The late answers leave first.
  kept.RunAll();
  ASSERT_TRUE(next.Wait());
  EXPECT_TRUE(next.Echoed()) << next.Error();
  EXPECT_EQ(next.controller.connection(), late[0].controller.connection());
  for (TestCall& call : late) {
    EXPECT_EQ(call.ends(), 1);
    EXPECT_EQ(call.response.message(), "");
  }
}

TEST(DeadlineTest, ManyDifferentOnesEachHold) {
  KeptAnswers kept;
  TestServer server(kept.Handler());
  TestClient client(server.address());
  constexpr int kCalls = 50;
  std::vector<TestCall> calls(kCalls);
  for (int i = 0; i < kCalls; ++i) {
    TestCall& call = calls[static_cast<size_t>(i)];
    call.controller.set_timeout_ms(10 + i * 7 % 40);
    call.Start(client.channel());
  }
  for (int i = 0; i < kCalls; ++i) {
    TestCall& call = calls[static_cast<size_t>(i)];
    ASSERT_TRUE(call.Wait());
    EXPECT_EQ(call.controller.ErrorCode(), kRpcTimedOut);
    EXPECT_GE(call.controller.latency_us(), 1000 * (10 + i * 7 % 40));
  }
  // Waits for the handlers, so that all that will be kept is.
  server.Destroy();
  kept.RunAll();
}

}  // namespace
}  // namespace farcall
