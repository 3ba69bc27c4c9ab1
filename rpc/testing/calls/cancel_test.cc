// SPDX-License-Identifier: Apache-2.0

#include <atomic>
#include <cerrno>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "rpc/closure.h"
#include "rpc/testing/eventually.h"
#include "rpc/testing/kept_answers.h"
#include "rpc/testing/raw_peer.h"
#include "rpc/testing/test_call.h"
#include "rpc/testing/test_peers.h"
#include "transport/testing/temp_dir.h"
#include "transport/testing/test_random.h"

namespace farcall {
namespace {

TEST(CancelTest, EndsASynchronousCallOfAnotherThread) {
  KeptAnswers kept;
  TestServer server(kept.Handler());
  TestClient client(server.address());
  TestCall call;
  std::thread caller([&] { call.Call(client.channel()); });
  ASSERT_TRUE(kept.Wait(1));
  call.controller.StartCancel();
  caller.join();
  EXPECT_EQ(call.controller.ErrorCode(), ECANCELED);
  EXPECT_TRUE(absl::IsCancelled(call.controller.status()));
  kept.RunAll();  // a late answer

  TestCall next;
  next.Start(client.channel());
  ASSERT_TRUE(kept.Wait(2));
  kept.RunAll();
  ASSERT_TRUE(next.Wait());
  EXPECT_TRUE(next.Echoed()) << next.Error();
}

TEST(CancelTest, EndsACallWithAClosure) {
  KeptAnswers kept;
  TestServer server(kept.Handler());
  TestClient client(server.address());
  TestCall call;
  call.Start(client.channel());
  ASSERT_TRUE(kept.Wait(1));
  call.controller.StartCancel();
  ASSERT_TRUE(call.Wait());
  EXPECT_EQ(call.controller.ErrorCode(), ECANCELED);
  kept.RunAll();
}

TEST(CancelTest, BeforeACallKeepsItFromBeingSent) {
  TestServer server;
  TestClient client(server.address());
  TestCall synchronous;
  synchronous.controller.StartCancel();
  EXPECT_EQ(synchronous.Call(client.channel()).controller.ErrorCode(), ECANCELED);
  TestCall with_closure;
  with_closure.controller.StartCancel();
  with_closure.Start(client.channel());
  ASSERT_TRUE(with_closure.Wait());
  EXPECT_EQ(with_closure.controller.ErrorCode(), ECANCELED);

  synchronous.controller.Reset();
  EXPECT_TRUE(synchronous.Call(client.channel()).Echoed()) << synchronous.Error();
  EXPECT_EQ(server.service().runs(), 1);
}

TEST(CancelTest, AfterTheEndHasNoEffect) {
  TestServer server;
  TestClient client(server.address());
  TestCall call;
  ASSERT_TRUE(call.Call(client.channel()).Echoed());
  call.controller.StartCancel();
  EXPECT_FALSE(call.controller.Failed());
  EXPECT_TRUE(call.Call(client.channel()).Echoed()) << "nor on the next: " << call.Error();
  EXPECT_TRUE(TestCall().Call(client.channel()).Echoed());
}

TEST(CancelTest, OfACallThatHasEndedLeavesTheNextOneOnItsControllerAlone) {
  KeptAnswers kept;
  TestServer server(kept.Handler());
  TestClient client(server.address());
  TestCall call;
  TestEvent ended;
  const auto start = [&] {
    test::TestService_Stub(&client.channel())
        .Echo(&call.controller, &call.request, &call.response, NewClosure([&] { ended.Signal(); }));
  };
  const CallId first = call.controller.call_id();
  start();
  ASSERT_TRUE(kept.Wait(1));
  kept.RunAll();
  ASSERT_TRUE(ended.Wait(1));

  start();
  ASSERT_TRUE(kept.Wait(2));
  call.controller.StartCancel(first);
  kept.RunAll();
  ASSERT_TRUE(ended.Wait(2));
  EXPECT_TRUE(call.Echoed()) << call.Error();
}

TEST(CancelTest, EndsACallThatHasNoConnectionYet) {
  const TempDir dir;
  std::optional<FullListener> full(dir.path() + "/full");
  ChannelOptions options = Patient();
  options.connect_timeout_ms = 60'000;
  TestClient client(absl::StrCat("unix:", dir.path(), "/full"), options);
  TestCall call;
  call.Start(client.channel());
  call.controller.StartCancel();
  ASSERT_TRUE(call.Wait());
  EXPECT_EQ(call.controller.ErrorCode(), ECANCELED);
  // At its end the runtime waits for an attempt to connect that has begun. It fails at once where
  // nobody listens.
  full.reset();
}

TEST(CancelTest, MayComeFromInsideAClosure) {
  KeptAnswers kept;
  TestServer server(kept.Handler());
  TestClient client(server.address());
  TestCall waiting;
  waiting.Start(client.channel());
  ASSERT_TRUE(kept.Wait(1));
  TestCall failing;
  failing.request.clear_message();
  test::TestService_Stub(&client.channel())
      .Echo(&failing.controller, &failing.request, &failing.response,
            NewClosure([&] { waiting.controller.StartCancel(); }));
  ASSERT_TRUE(waiting.Wait());
  EXPECT_EQ(waiting.controller.ErrorCode(), ECANCELED);
  EXPECT_EQ(failing.controller.ErrorCode(), kBadRequest);
  kept.RunAll();
}

// Answer and cancellation race; each call still ends once, as one or the other.
TEST(CancelTest, AtAnyMomentEndsACallOnce) {
  TestServer server(EchoBack, Inline());
  TestClient client(server.address());
  TestRandom random(20);
  for (int round = 0; round < 300; ++round) {
    TestCall call;
    call.Start(client.channel());
    for (uint64_t spin = random.Size(30'000); spin > 0; --spin) {
      std::atomic_signal_fence(std::memory_order_seq_cst);
    }
    call.controller.StartCancel();
    ASSERT_TRUE(call.Wait());
    ASSERT_TRUE(call.Echoed() || call.controller.ErrorCode() == ECANCELED) << call.Error();
  }
  TestCall last;
  EXPECT_TRUE(last.Call(client.channel()).Echoed()) << last.Error();
}

// A server whose handlers call NotifyOnCancel.
class ServerCancelTest : public ::testing::Test {
 protected:
  void Handle(Controller& controller, const test::EchoRequest& request,
              test::EchoResponse& response, google::protobuf::Closure* done) {
    response.set_message(request.message());
    EXPECT_FALSE(controller.IsCanceled());
    controller.NotifyOnCancel(NewClosure([this, &controller] {
      was_canceled_ = controller.IsCanceled();
      notified_.Signal();
    }));
    controller_ = &controller;
    kept_.Keep(done);
  }

  KeptAnswers kept_;
  TestEvent notified_;
  std::atomic<bool> was_canceled_{false};
  std::atomic<Controller*> controller_{nullptr};
  TestServer server_{[this](auto&&... arguments) { Handle(arguments...); }};
};

TEST_F(ServerCancelTest, AHandlerIsToldThatItsClientHasGone) {
  RawPeer peer(server_.address());
  ASSERT_TRUE(peer.Send(EchoFrame(1)));
  ASSERT_TRUE(kept_.Wait(1));
  EXPECT_EQ(notified_.count(), 0);
  peer.Close();
  ASSERT_TRUE(notified_.Wait());
  EXPECT_TRUE(was_canceled_);
  EXPECT_TRUE(controller_.load()->IsCanceled());

  // A closure that is registered now runs at once.
  TestEvent late;
  controller_.load()->NotifyOnCancel(NewClosure([&] { late.Signal(); }));
  EXPECT_EQ(late.count(), 1);
  kept_.RunAll();
  EXPECT_EQ(notified_.count(), 1);
}

TEST_F(ServerCancelTest, AHandlerIsToldOfTheEndOfACallThatWasNotCancelled) {
  TestClient client(server_.address());
  TestCall call;
  call.Start(client.channel());
  ASSERT_TRUE(kept_.Wait(1));
  EXPECT_EQ(notified_.count(), 0);
  kept_.RunAll();
  ASSERT_TRUE(call.Wait());
  EXPECT_TRUE(call.Echoed()) << call.Error();
  EXPECT_EQ(notified_.count(), 1);
  EXPECT_FALSE(was_canceled_);
}

TEST_F(ServerCancelTest, TheServerIsNotToldOfStartCancel) {
  TestClient client(server_.address());
  TestCall call;
  call.Start(client.channel());
  ASSERT_TRUE(kept_.Wait(1));
  call.controller.StartCancel();
  ASSERT_TRUE(call.Wait());
  EXPECT_FALSE(controller_.load()->IsCanceled());

  // But that the channel has gone, it sees.
  client.Destroy();
  ASSERT_TRUE(notified_.Wait());
  EXPECT_TRUE(was_canceled_);
  kept_.RunAll();
}

TEST_F(ServerCancelTest, StoppingTheServerCancelsWhatIsLeft) {
  TestClient client(server_.address());
  TestCall call;
  call.Start(client.channel());
  ASSERT_TRUE(kept_.Wait(1));
  EXPECT_FALSE(server_.server().Stop(Duration::zero()).ok());
  ASSERT_TRUE(notified_.Wait());
  EXPECT_TRUE(was_canceled_);
  ASSERT_TRUE(call.Wait());
  EXPECT_EQ(call.controller.ErrorCode(), kFailedSocket);
  kept_.RunAll();
}

}  // namespace
}  // namespace farcall
