// SPDX-License-Identifier: Apache-2.0
//
// Synchronous calls from inside handlers and closures, also where caller and callee
// share one loop: the thread that waits has handed the drive over.

#include <chrono>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/match.h"
#include "gtest/gtest.h"
#include "rpc/closure.h"
#include "rpc/testing/eventually.h"
#include "rpc/testing/test_call.h"
#include "rpc/testing/test_peers.h"

namespace farcall {
namespace {

// Answers when the call that it makes over `next` has ended, which does the same with one
// less depth; at depth 0 it echoes. A failure below is its own.
EchoHandler Chain(Channel* const& next) {
  return [&next](Controller& controller, const test::EchoRequest& request,
                 test::EchoResponse& response, google::protobuf::Closure* done) {
    if (request.depth() == 0) return EchoBack(controller, request, response, done);
    const ClosureGuard answer(done);
    TestCall call(request.message());
    call.request.set_depth(request.depth() - 1);
    call.Call(*next);
    if (call.controller.Failed()) {
      controller.SetFailed(call.controller.ErrorCode(), call.controller.ErrorText());
    } else {
      response.set_message(call.response.message());
    }
  };
}

ServerOptions On(TestRuntime& runtime, ServerOptions options) {
  options.runtime = &*runtime;
  return options;
}

RuntimeOptions Blocking(int max_blocked_threads) {
  RuntimeOptions options = OneLoop();
  options.max_blocked_threads = max_blocked_threads;
  return options;
}

// Two servers whose handlers call each other, with all their channels, on one loop.
class Pair {
 public:
  Pair(const ServerOptions& server, const RuntimeOptions& options, const ChannelOptions& channel)
      : runtime_(options),
        a_(Chain(to_b_), On(runtime_, server)),
        b_(Chain(to_a_), On(runtime_, server)),
        channel_to_a_(OpenChannel(a_.address(), *runtime_, channel)),
        channel_to_b_(OpenChannel(b_.address(), *runtime_, channel)) {
    to_a_ = channel_to_a_.get();
    to_b_ = channel_to_b_.get();
  }
  explicit Pair(const ServerOptions& server) : Pair(server, OneLoop(), Patient()) {}
  // Handlers of calls that are over may still run, and use the channels.
  ~Pair() {
    a_.Destroy();
    b_.Destroy();
  }

  Channel& to_a() { return *to_a_; }

 private:
  Channel* to_a_ = nullptr;
  Channel* to_b_ = nullptr;
  TestRuntime runtime_;
  TestServer a_;
  TestServer b_;
  std::unique_ptr<Channel> channel_to_a_;
  std::unique_ptr<Channel> channel_to_b_;
};

void SetDepth(TestCall& call, int depth) { call.request.set_depth(depth); }

// Not always at once after others: a thread that has waited counts until its handler has
// returned, which is after the answer.
bool ChainEchoes(Pair& pair, int depth) {
  TestCall call;
  SetDepth(call, depth);
  return call.Call(pair.to_a()).Echoed();
}

TEST(NestedTest, InlineHandlersOnOneLoopCallEachOther) {
  Pair pair(Inline());
  for (const int depth : {1, 2, 3, 12, 30}) {
    TestCall call;
    SetDepth(call, depth);
    EXPECT_TRUE(call.Call(pair.to_a()).Echoed()) << depth << ": " << call.Error();
  }
}

// Where they run by default: with one handler thread, which is not enough for them.
TEST(NestedTest, HandlersCallEachOtherAtAnyDepth) {
  ServerOptions one_thread;
  one_thread.handler_threads = 1;
  Pair pair(one_thread);
  for (const int depth : {1, 2, 3, 12, 30}) {
    TestCall call;
    SetDepth(call, depth);
    EXPECT_TRUE(call.Call(pair.to_a()).Echoed()) << depth << ": " << call.Error();
  }
  // More than there are threads: an error, and soon.
  TestCall deep;
  SetDepth(deep, 300);
  deep.Call(pair.to_a());
  EXPECT_EQ(deep.controller.ErrorCode(), kLimit) << deep.Error();
  EXPECT_TRUE(Eventually([&] { return ChainEchoes(pair, 30); }));
}

// Each runs for so long before its call that another thread takes the loop, and its method goes to
// the one handler thread: none of those that wait takes that thread's place.
TEST(NestedTest, SlowHandlersCallEachOther) {
  ServerOptions one_thread;
  one_thread.handler_threads = 1;
  Channel* to_self = nullptr;
  TestRuntime runtime;
  const EchoHandler chain = Chain(to_self);
  TestServer server(
      [&](Controller& controller, const test::EchoRequest& request, test::EchoResponse& response,
          google::protobuf::Closure* done) {
        const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(30);
        while (std::chrono::steady_clock::now() < end) {
        }
        chain(controller, request, response, done);
      },
      On(runtime, one_thread));
  const auto channel = OpenChannel(server.address(), *runtime, Patient());
  to_self = channel.get();
  TestCall call;
  SetDepth(call, 12);
  EXPECT_TRUE(call.Call(*channel).Echoed()) << call.Error();
}

TEST(NestedTest, PoolHandlersCallEachOther) {
  Pair pair(OnPool(8));
  for (const int depth : {1, 2, 12}) {
    TestCall call;
    SetDepth(call, depth);
    EXPECT_TRUE(call.Call(pair.to_a()).Echoed()) << depth << ": " << call.Error();
  }
}

TEST(NestedTest, AHandlerCallsItsOwnServer) {
  Channel* to_self = nullptr;
  TestRuntime runtime;
  TestServer server(Chain(to_self), On(runtime, Inline()));
  const auto channel = OpenChannel(server.address(), *runtime);
  to_self = channel.get();
  TestCall call;
  SetDepth(call, 15);
  EXPECT_TRUE(call.Call(*channel).Echoed()) << call.Error();
}

TEST(NestedTest, ManyChainsAtOnce) {
  Pair pair(Inline());
  std::vector<std::thread> threads;
  for (int i = 0; i < 6; ++i) {
    threads.emplace_back([&pair] {
      for (int round = 0; round < 10; ++round) {
        TestCall call;
        SetDepth(call, 5);
        EXPECT_TRUE(call.Call(pair.to_a()).Echoed()) << call.Error();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

TEST(NestedTest, AClosureMakesSynchronousCallsOnItsOwnLoop) {
  TestRuntime runtime;
  TestServer server(EchoBack, On(runtime, Inline()));
  const auto channel = OpenChannel(server.address(), *runtime);
  constexpr int kClosures = 20;
  TestEvent ended;
  std::vector<TestCall> outer(kClosures);
  for (TestCall& call : outer) {
    test::TestService_Stub(channel.get())
        .Echo(&call.controller, &call.request, &call.response, NewClosure([&] {
          for (int i = 0; i < 3; ++i) {
            TestCall inner;
            EXPECT_TRUE(inner.Call(*channel).Echoed()) << inner.Error();
          }
          ended.Signal();
        }));
  }
  EXPECT_TRUE(ended.Wait(kClosures));
}

TEST(NestedTest, AClosureStartsTheNextCall) {
  TestServer server(EchoBack, Inline());
  TestClient client(server.address());
  constexpr int kCalls = 200;
  TestEvent ended;
  std::vector<TestCall> calls(kCalls);
  std::function<void(int)> start = [&](int i) {
    if (i == kCalls) return ended.Signal();
    TestCall& call = calls[static_cast<size_t>(i)];
    test::TestService_Stub(&client.channel())
        .Echo(&call.controller, &call.request, &call.response, NewClosure([&, i] {
          EXPECT_TRUE(call.Echoed()) << call.Error();
          start(i + 1);
        }));
  };
  start(0);
  EXPECT_TRUE(ended.Wait());
}

TEST(NestedTest, BeyondMaxBlockedThreadsACallFailsAndNothingHangs) {
  Pair pair(Inline(), Blocking(3), Patient());
  TestCall deep;
  SetDepth(deep, 12);
  deep.Call(pair.to_a());
  EXPECT_EQ(deep.controller.ErrorCode(), kLimit) << deep.Error();
  EXPECT_TRUE(absl::StrContains(deep.controller.ErrorText(), "max_blocked_threads allows"));

  EXPECT_TRUE(Eventually([&] { return ChainEchoes(pair, 3); }));
}

TEST(NestedTest, ManyChainsBeyondTheLimitAllEnd) {
  Pair pair(Inline(), Blocking(4), Patient());
  std::vector<std::thread> threads;
  for (int i = 0; i < 6; ++i) {
    threads.emplace_back([&pair] {
      for (int round = 0; round < 10; ++round) {
        TestCall call;
        SetDepth(call, 3);
        call.Call(pair.to_a());
        EXPECT_TRUE(call.Echoed() || call.controller.ErrorCode() == kLimit) << call.Error();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_TRUE(Eventually([&] { return ChainEchoes(pair, 4); }));
}

// Each handler waits for one that finds no thread: only deadlines can end that.
TEST(NestedTest, APoolThatIsUsedUpIsFreedByDeadlines) {
  ChannelOptions hasty = Patient();
  hasty.timeout_ms = 200;
  Pair pair(OnPool(1), OneLoop(), hasty);
  TestCall deep;
  SetDepth(deep, 8);
  deep.Call(pair.to_a());
  EXPECT_EQ(deep.controller.ErrorCode(), kRpcTimedOut) << deep.Error();

  TestCall alone;
  alone.controller.set_timeout_ms(Patient().timeout_ms);
  EXPECT_TRUE(alone.Call(pair.to_a()).Echoed()) << alone.Error();
}

}  // namespace
}  // namespace farcall
