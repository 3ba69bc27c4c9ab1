// SPDX-License-Identifier: Apache-2.0
//
// The judge is judged: right bytes, wrong bytes, lost and doubled calls, over TCP.

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "rpc/closure.h"
#include "rpc/runtime/server.h"
#include "rpc/testing/rdma_peer/client_commands.h"
#include "rpc/testing/rdma_peer/exchange_service.h"
#include "rpc/testing/rdma_peer/pattern_bytes.h"

namespace farcall::rdma_peer {
namespace {

using ::testing::Test;

// Answers with its caller's own attachment, one byte changed.
class LyingService final : public Exchange {
 public:
  void Call(google::protobuf::RpcController* controller, const ExchangeRequest* request,
            ExchangeResponse* response, google::protobuf::Closure* done) override {
    const ClosureGuard answer(done);
    response->set_id(request->id());
    response->set_text(PatternText(~request->id()));
    auto& mine = static_cast<Controller&>(*controller);
    std::string bytes = mine.request_attachment().ToString();
    if (!bytes.empty()) bytes[bytes.size() / 2] ^= 1;
    mine.response_attachment() = Buffer(bytes);
  }
};

class PeerTest : public Test {
 protected:
  std::string Start(google::protobuf::Service& service) {
    EXPECT_TRUE(server_.AddService(&service, SERVER_DOESNT_OWN_SERVICE).ok());
    EXPECT_TRUE(server_.Start("127.0.0.1:0").ok());
    return server_.listen_address().ToString();
  }
  static ChannelOptions Patient() {
    ChannelOptions options;
    options.timeout_ms = 10'000;
    return options;
  }

  Server server_;
};

TEST_F(PeerTest, CallsAreCountedAndJudged) {
  ExchangeService service;
  ClientCommands client(Start(service), Patient());
  ASSERT_TRUE(client.Open(3).ok());
  EXPECT_EQ(client.Do("calls 10 100000 4"), "done ok=30 failed=0 wrong=0 rdma=0 tcp=30 error=");
  EXPECT_EQ(service.counts().ToString(), "calls=30 wrong=0 doubled=0 rdma=0 tcp=30");
}

TEST_F(PeerTest, LoadRunsUntilItIsStopped) {
  ExchangeService service;
  ClientCommands client(Start(service), Patient());
  ASSERT_TRUE(client.Open(2).ok());
  EXPECT_EQ(client.Do("load 1000 2"), "started");
  EXPECT_TRUE(absl::StartsWith(client.Do("progress"), "progress ok="));
  const std::string done = client.Do("stop");
  EXPECT_TRUE(absl::StrContains(done, " failed=0 wrong=0 ")) << done;
  const uint64_t calls = service.counts().calls;
  EXPECT_TRUE(absl::StartsWith(done, absl::StrCat("done ok=", calls, " "))) << done;
}

TEST_F(PeerTest, LoadOfMixedSizesIsJudgedAndEachCallArrivesOnce) {
  ExchangeService service;
  ClientCommands client(Start(service), Patient());
  ASSERT_TRUE(client.Open(2).ok());
  const std::string before = client.Do("made");
  int made_before = 0;
  ASSERT_TRUE(absl::SimpleAtoi(before.substr(before.find('=') + 1), &made_before)) << before;
  EXPECT_EQ(client.Do("load 32-100000 2"), "started");
  while (service.counts().calls < 100) client.Do("progress");
  const std::string done = client.Do("stop");
  EXPECT_TRUE(absl::StrContains(done, " failed=0 wrong=0 ")) << done;
  const ExchangeService::Counts counts = service.counts();
  EXPECT_EQ(counts.wrong + counts.doubled, 0u);
  EXPECT_EQ(client.Do("made"), absl::StrCat("made calls=", made_before + counts.calls));
}

TEST_F(PeerTest, AnswersHaveAnotherSizeWhereThatIsAskedFor) {
  ExchangeService service;
  ClientCommands client(Start(service), Patient());
  ASSERT_TRUE(client.Open(1).ok());
  for (const size_t answer : {0, 7, 50000}) {
    for (int odd_and_even = 0; odd_and_even < 2; ++odd_and_even) {
      CheckedCall call;
      call.Prepare(1000, answer);
      const auto channel = Channel::Create(server_.listen_address().ToString(), Patient());
      ASSERT_TRUE(channel.ok());
      Exchange_Stub(channel->get()).Call(&call.controller, &call.request, &call.response, nullptr);
      EXPECT_TRUE(call.Right());
      EXPECT_EQ(call.controller.response_attachment().size(), answer);
    }
  }
  EXPECT_TRUE(absl::StartsWith(client.Do("calls 3 10000 2 7"), "done ok=3 failed=0 wrong=0 "));
  EXPECT_EQ(client.Do("load 10000 2 0"), "started");
  while (service.counts().calls < 100) client.Do("progress");
  const std::string done = client.Do("stop");
  EXPECT_TRUE(absl::StrContains(done, " failed=0 wrong=0 ")) << done;
  EXPECT_EQ(service.counts().wrong + service.counts().doubled, 0u);
}

TEST_F(PeerTest, AnswersOfAnotherSizeThanAskedForAreWrong) {
  LyingService service;
  ClientCommands client(Start(service), Patient());
  ASSERT_TRUE(client.Open(1).ok());
  EXPECT_EQ(client.Do("load 1000 1 999"), "started");
  std::string progress;
  while (!absl::StrContains(progress, " wrong=") || absl::StrContains(progress, " wrong=0 ")) {
    progress = client.Do("progress");
  }
  EXPECT_TRUE(absl::StartsWith(client.Do("stop"), "done ok=0 failed=0 wrong="));
}

TEST_F(PeerTest, StateTellsTransportAndReason) {
  ExchangeService service;
  ClientCommands client(Start(service), Patient());
  ASSERT_TRUE(client.Open(2).ok());
  const std::string state = "state connections=2 rdma=0 tcp=2 failed=0 why=not_asked device= ";
  EXPECT_TRUE(absl::StartsWith(client.Do("state"), state)) << client.Do("state");
  EXPECT_TRUE(absl::StartsWith(client.Do("await tcp 10"), state));
  EXPECT_TRUE(absl::StartsWith(client.Do("await not_asked 10"), state));
  EXPECT_TRUE(absl::StartsWith(client.Do("await rdma 0"), state));
}

TEST_F(PeerTest, NobodyThereIsAFailureWithItsText) {
  ClientCommands client("127.0.0.1:1", Patient());
  ASSERT_TRUE(client.Open(1).ok());
  const std::string done = client.Do("calls 2 0 1");
  EXPECT_TRUE(absl::StartsWith(done, "done ok=0 failed=2 ")) << done;
  EXPECT_TRUE(absl::StrContains(done, "127.0.0.1:1")) << done;
  EXPECT_TRUE(absl::StrContains(client.Do("await failed 10"), " failed=1 "));
}

TEST_F(PeerTest, WrongBytesAreSeenByTheClient) {
  LyingService service;
  ClientCommands client(Start(service), Patient());
  ASSERT_TRUE(client.Open(1).ok());
  EXPECT_EQ(client.Do("calls 4 5000 1"), "done ok=0 failed=0 wrong=4 rdma=0 tcp=4 error=");
}

TEST_F(PeerTest, WrongAndDoubledRequestsAreSeenByTheServer) {
  ExchangeService service;
  const auto channel = Channel::Create(Start(service), Patient());
  ASSERT_TRUE(channel.ok());
  CheckedCall call;
  call.Prepare(1000);
  Exchange_Stub stub(channel->get());
  for (int i = 0; i < 2; ++i) {
    call.controller.Reset();
    call.controller.request_attachment() = PatternBuffer(call.request.id() + i, 1000);
    stub.Call(&call.controller, &call.request, &call.response, nullptr);
    ASSERT_FALSE(call.controller.Failed()) << call.controller.ErrorText();
  }
  EXPECT_EQ(service.counts().ToString(), "calls=2 wrong=1 doubled=1 rdma=0 tcp=2");
}

TEST_F(PeerTest, LinesThatMeanNothingAreErrors) {
  ClientCommands client("127.0.0.1:1", Patient());
  for (const char* line : {"", "calls", "calls 1 2", "calls 0 1 1", "calls a b c", "calls 1 2 3 x",
                           "load 1", "load 0-5 1", "load 5- x", "load 5-x 1", "load 5 1 x",
                           "load 5 1 1 1", "await rdma", "stop", "progress", "open x", "dance"}) {
    EXPECT_TRUE(absl::StartsWith(client.Do(line), "error ")) << line;
  }
}

}  // namespace
}  // namespace farcall::rdma_peer
