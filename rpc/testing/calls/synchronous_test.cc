// SPDX-License-Identifier: Apache-2.0
//
// Synchronous callers drive their loop while they wait, and hand it on.

#include <atomic>
#include <cerrno>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "rpc/closure.h"
#include "rpc/testing/eventually.h"
#include "rpc/testing/kept_answers.h"
#include "rpc/testing/test_call.h"
#include "rpc/testing/test_peers.h"
#include "transport/loop/loop_group.h"

namespace farcall {
namespace {

using std::chrono::milliseconds;

constexpr char kKept[] = "kept";

// Answers at once, but for calls that say that they want to wait.
EchoHandler KeepSome(KeptAnswers& kept) {
  return [keep = kept.Handler()](Controller& controller, const test::EchoRequest& request,
                                 test::EchoResponse& response, google::protobuf::Closure* done) {
    const bool keeps = request.message() == kKept;
    keeps ? keep(controller, request, response, done)
          : EchoBack(controller, request, response, done);
  };
}

class SynchronousTest : public testing::Test {
 protected:
  ~SynchronousTest() override {
    kept_.RunAll();
    server_.Destroy();
    // Of calls that were over before their handlers began.
    kept_.RunAll();
  }

  EventLoop& loop() { return (*client_.runtime()).parts().loops->at(0); }
  // The thread that drives the client's loop now.
  std::thread::id DriverNow() {
    TestEvent ran;
    std::thread::id driver;
    loop().Post([&] {
      driver = std::this_thread::get_id();
      ran.Signal();
    });
    EXPECT_TRUE(ran.Wait());
    return driver;
  }
  // Does `meanwhile` while a call waits, over and over until the call's own thread drove the loop
  // then. The last call.
  std::unique_ptr<TestCall> WhileOneDrives(const std::function<void(TestCall&)>& meanwhile) {
    std::unique_ptr<TestCall> call;
    int calls = 0;
    EXPECT_TRUE(Eventually([&] {
      call = std::make_unique<TestCall>(kKept);
      std::thread caller([&] {
        CallInARow();
        call->Call(client_.channel());
      });
      EXPECT_TRUE(kept_.Wait(++calls));
      const bool drove = DriverNow() == caller.get_id();
      meanwhile(*call);
      caller.join();
      kept_.RunAll();
      return drove;
    }));
    return call;
  }
  // So that the next call finds the drive free.
  void CallInARow() {
    for (int i = 0; i < 3; ++i) EXPECT_TRUE(TestCall().Call(client_.channel()).Echoed());
  }

  KeptAnswers kept_;
  TestServer server_{KeepSome(kept_)};
  TestClient client_{server_.address()};
};

TEST_F(SynchronousTest, ACallerDrivesAndReadsItsAnswer) {
  const auto call = WhileOneDrives([&](TestCall&) { kept_.RunAll(); });
  EXPECT_TRUE(call->Echoed()) << call->Error();
}

TEST_F(SynchronousTest, ACallerThatDrivesDoesNotStayPastItsDeadline) {
  EXPECT_TRUE(Eventually([&] {
    std::atomic<bool> waits{false};
    std::atomic<bool> over{false};
    std::thread caller([&] {
      CallInARow();
      TestCall call(kKept);
      call.controller.set_timeout_ms(50);
      waits = true;
      call.Call(client_.channel());
      over = true;
      EXPECT_EQ(call.controller.ErrorCode(), kRpcTimedOut);
    });
    bool drove = false;
    while (!drove && !over) drove = waits && DriverNow() == caller.get_id();
    caller.join();
    return drove;
  }));
}

TEST_F(SynchronousTest, ACallerThatDrivesCanBeCancelled) {
  const auto call = WhileOneDrives([](TestCall& one) { one.controller.StartCancel(); });
  EXPECT_EQ(call->controller.ErrorCode(), ECANCELED);
}

TEST_F(SynchronousTest, ClosuresRunWhileACallerDrives) {
  const auto call = WhileOneDrives([&](TestCall&) {
    for (int i = 0; i < 3; ++i) {
      TestCall with_closure;
      with_closure.Start(client_.channel());
      EXPECT_TRUE(with_closure.Wait());
      EXPECT_TRUE(with_closure.Echoed()) << with_closure.Error();
    }
    kept_.RunAll();
  });
  EXPECT_TRUE(call->Echoed()) << call->Error();
}

TEST_F(SynchronousTest, ClosuresNeverRunOnAThreadThatWaits) {
  const std::thread::id here = std::this_thread::get_id();
  for (int i = 0; i < 100; ++i) {
    std::atomic<bool> ran{false};
    auto beside = std::make_unique<TestCall>();
    test::TestService_Stub(&client_.channel())
        .Echo(&beside->controller, &beside->request, &beside->response, NewClosure([&] {
          EXPECT_NE(std::this_thread::get_id(), here);
          ran = true;
        }));
    TestCall call;
    EXPECT_TRUE(call.Call(client_.channel()).Echoed()) << call.Error();
    ASSERT_TRUE(Eventually([&] { return ran.load(); }));
  }
}

TEST_F(SynchronousTest, CallersTakeTurns) {
  constexpr int kCallers = 8;
  constexpr int kCalls = 200;
  std::vector<std::thread> callers;
  for (int i = 0; i < kCallers; ++i) {
    callers.emplace_back([&, i] {
      for (int k = 0; k < kCalls; ++k) {
        TestCall call(absl::StrCat(i, ".", k));
        EXPECT_TRUE(call.Call(client_.channel()).Echoed()) << call.Error();
      }
    });
  }
  for (std::thread& caller : callers) caller.join();
}

// Deadlines, cancellations, closures and answers, in any order.
TEST_F(SynchronousTest, StormsEnd) {
  constexpr int kCallers = 6;
  constexpr int kCalls = 60;
  std::atomic<int> over{0};
  std::vector<std::thread> callers;
  for (int i = 0; i < kCallers; ++i) {
    callers.emplace_back([&, i] {
      for (int k = 0; k < kCalls; ++k) {
        TestCall call((i + k) % 3 == 0 ? kKept : "at once");
        call.controller.set_timeout_ms(1 + (i * 7 + k) % 20);
        call.Call(client_.channel());
        EXPECT_TRUE(call.Echoed() || call.controller.ErrorCode() == kRpcTimedOut) << call.Error();
      }
      ++over;
    });
  }
  while (over < kCallers) {
    TestCall with_closure;
    with_closure.Start(client_.channel());
    loop().Post([] {});
    kept_.RunAll();
    EXPECT_TRUE(with_closure.Wait());
    EXPECT_TRUE(with_closure.Echoed()) << with_closure.Error();
  }
  for (std::thread& caller : callers) caller.join();
}

// The server is on the same loop: the thread drives it, and no call waits for itself.
TEST(SynchronousToOneselfTest, HandlersAndCallersOfOneLoopCallTheSameServer) {
  for (const int handler_threads : {0, 4}) {
    TestRuntime runtime;
    Channel* back = nullptr;
    ServerOptions options;
    options.runtime = &*runtime;
    options.handler_threads = handler_threads;
    TestServer server(
        [&back](Controller& controller, const test::EchoRequest& request,
                test::EchoResponse& response, google::protobuf::Closure* done) {
          if (request.depth() > 0) {
            TestCall call;
            call.request.set_depth(request.depth() - 1);
            EXPECT_TRUE(call.Call(*back).Echoed()) << call.Error();
          }
          EchoBack(controller, request, response, done);
        },
        options);
    const std::unique_ptr<Channel> channel = OpenChannel(server.address(), *runtime);
    back = channel.get();
    std::vector<std::thread> callers;
    for (int i = 0; i < 3; ++i) {
      callers.emplace_back([&] {
        for (int k = 0; k < 40; ++k) {
          TestCall call;
          call.request.set_depth(k % 2);
          EXPECT_TRUE(call.Call(*channel).Echoed()) << call.Error();
        }
      });
    }
    for (std::thread& caller : callers) caller.join();
    server.Destroy();
  }
}

}  // namespace
}  // namespace farcall
