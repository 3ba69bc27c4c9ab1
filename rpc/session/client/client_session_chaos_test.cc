// SPDX-License-Identifier: Apache-2.0
//
// A client's end of a connection under steps in any order.

#include <gtest/gtest.h>

#include <memory>

#include "rpc/session/client/client_session_testing.h"
#include "transport/testing/test_random.h"

namespace farcall {
namespace {

using std::chrono::milliseconds;
using Client = TestSessionClient;

// Steps in any order. The books at the end: each call has ended once, and nothing is left.
class Chaos {
 public:
  explicit Chaos(uint64_t seed) : random_(seed) {}

  void Step() {
    switch (random_.Below(10)) {
      case 0:
      case 1:
      case 2:
        client_.Start(random_.Chance(0.3) ? -1 : static_cast<int64_t>(random_.Below(20)));
        break;
      case 3:
      case 4:
        Connected();
        break;
      case 5:
        if (wire_ != nullptr) wire_->Deliver(Client::Answer(AnyId()));
        break;
      case 6:
        Forget();
        break;
      case 7:
        client_.world.clock.Advance(milliseconds(random_.Below(4)));
        break;
      case 8:
        Disturb();
        break;
      default:
        client_.world.loop->RunOnce();
    }
  }
  void EndAndCheck() {
    client_.Retire();
    for (int i = 0; i < 10; ++i) {
      client_.world.Run();
      // Calls without a deadline end by the connection.
      if (!client_.world.transport.attempts.empty()) {
        client_.world.transport.Fail(absl::UnavailableError("refused"));
      }
      if (wire_ != nullptr) wire_->End(absl::UnavailableError("the end"));
    }
    wire_ = nullptr;
    EXPECT_EQ(client_.sessions.count(), 0);
    EXPECT_EQ(client_.world.loop->NextTimer(), std::nullopt);
    EXPECT_EQ(client_.world.pool->stats().used_bytes, 0u);
    for (const auto& [id, call] : client_.calls) EXPECT_EQ(call.ends, 1) << id;
  }

 private:
  // Of a call that waits, has ended, or never was.
  uint64_t AnyId() { return random_.Below(client_.calls.size() + 2); }

  void Connected() {
    if (client_.world.transport.attempts.empty()) return;
    if (random_.Chance(0.7)) {
      wire_ = client_.world.transport.Succeed();
    } else {
      client_.world.transport.Fail(absl::UnavailableError("refused"));
    }
  }
  void Forget() {
    const auto found = client_.calls.find(AnyId());
    if (found == client_.calls.end() || found->second.ends > 0) return;
    // Unless it has ended before that reaches the loop.
    client_.world.loop->RunOrPost([session = client_.session, &call = found->second] {
      if (call.ends > 0 || !call.pending()) return;
      session->Forget(call.id());
      ++call.ends;
    });
  }
  void Disturb() {
    if (wire_ == nullptr || !random_.Chance(0.3)) return;
    switch (random_.Below(3)) {
      case 0:
        return wire_->Deliver("no frame at all");
      case 1:
        return wire_->Deliver(Client::GoAway());
      default:
        wire_->End(absl::UnavailableError("closed by peer"));
    }
  }

  TestRandom random_;
  Client client_;
  std::shared_ptr<FakeWire> wire_;
};

TEST(ClientSessionChaosTest, EachCallEndsExactlyOnce) {
  for (uint64_t seed = 1; seed <= 300; ++seed) {
    SCOPED_TRACE(seed);
    Chaos chaos(seed);
    for (int step = 0; step < 200; ++step) chaos.Step();
    chaos.EndAndCheck();
  }
}

}  // namespace
}  // namespace farcall
