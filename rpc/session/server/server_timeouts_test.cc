// SPDX-License-Identifier: Apache-2.0
//
// How long a server waits for a peer: that sends, that reads, that has nothing under way.

#include <gtest/gtest.h>

#include <chrono>
#include <cstddef>
#include <string>

#include "rpc/session/server/server_session_testing.h"

namespace farcall {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

class ServerTimeoutsTest : public ServerSessionTest {
 protected:
  ServerTimeoutsTest() {
    core_->options.read_timeout_ms = 10'000;
    core_->options.idle_timeout_ms = 60'000;
  }
  void Pass(Duration time) {
    world_.clock.Advance(time);
    world_.Run();
  }
};

TEST_F(ServerTimeoutsTest, WhoSendsNothingIsClosed) {
  Accept();
  Pass(milliseconds(9'999));
  EXPECT_FALSE(wire_->destroyed);
  Pass(milliseconds(1));
  EXPECT_TRUE(wire_->destroyed);
  EXPECT_TRUE(Logged("closed: it sent nothing within read_timeout_ms, 10000"));
  EXPECT_EQ(core_->counters.timed_out, 1u);
}

TEST_F(ServerTimeoutsTest, ByteByByteARequestHasTheSameTime) {
  Accept();
  const std::string request = Request(1, std::string(100, 'x'));
  for (size_t i = 0; !wire_->destroyed; ++i) {
    ASSERT_LT(i, 11u);
    wire_->Deliver(request.substr(i, 1));
    Pass(seconds(1));
  }
  EXPECT_TRUE(Logged("closed: a request was not complete within read_timeout_ms, 10000"));
}

TEST_F(ServerTimeoutsTest, HalfAMagicIsARequestThatIsBegun) {
  Accept();
  wire_->Deliver("PR");
  Pass(seconds(10));
  EXPECT_TRUE(wire_->destroyed);
  EXPECT_TRUE(Logged("a request was not complete"));
}

TEST_F(ServerTimeoutsTest, WhatWaitsForUsIsNotThePeersFault) {
  core_->options.max_concurrency_per_connection = 1;
  core_->options.idle_timeout_ms = -1;
  Keep();
  Accept();
  const std::string next = Request(2);
  wire_->Deliver(Request(1) + next.substr(0, 5));
  Pass(seconds(1000));
  ASSERT_FALSE(wire_->destroyed);
  AnswerOldest();
  wire_->Deliver(next.substr(5));
  world_.Run();
  AnswerOldest();
  EXPECT_EQ(wire_->TakeFrames().size(), 2u);
}

TEST_F(ServerTimeoutsTest, AnIdleConnectionIsClosedWithAGoAwayAndNoLogLine) {
  Accept();
  wire_->Deliver(Request(1));
  Answer();
  Pass(milliseconds(59'999));
  EXPECT_FALSE(wire_->destroyed);
  Pass(milliseconds(1));
  EXPECT_TRUE(wire_->destroyed);
  EXPECT_EQ(Answer().meta.response().error_code(), kLogoff);
  EXPECT_TRUE(world_.log.empty());
  EXPECT_EQ(core_->counters.timed_out, 1u);
}

TEST_F(ServerTimeoutsTest, ACallUnderWayIsNotIdle) {
  Keep();
  Accept();
  wire_->Deliver(Request(1));
  Pass(seconds(3600));
  EXPECT_FALSE(wire_->destroyed);
  AnswerOldest();
  Pass(seconds(59));
  EXPECT_FALSE(wire_->destroyed);
  Pass(seconds(1));
  EXPECT_TRUE(wire_->destroyed);
}

TEST_F(ServerTimeoutsTest, AnIdleConnectionKeepsNoBlock) {
  Accept();
  wire_->Deliver(Request(1));
  Answer();
  EXPECT_GT(world_.pool->stats().used_bytes, 0u) << "the next answer is soon";
  Pass(seconds(10));
  EXPECT_EQ(world_.pool->stats().used_bytes, 0u);
  wire_->Deliver(Request(2));
  EXPECT_EQ(Answer().meta.correlation_id(), 2);
}

TEST_F(ServerTimeoutsTest, WithoutTimeoutsConnectionsStay) {
  core_->options.read_timeout_ms = -1;
  core_->options.idle_timeout_ms = -1;
  Accept();
  Pass(std::chrono::hours(24 * 365));
  EXPECT_FALSE(wire_->destroyed);
}

// The wire of this test takes nothing: what is written stays backlog.
TEST_F(ServerTimeoutsTest, WhoNeverReadsIsClosed) {
  service_.say = [](Controller& controller, auto* done) {
    controller.response_attachment().Append(std::string(size_t{5} << 20, 'x'));
    done->Run();
  };
  Accept();
  wire_->Deliver(Request(1) + Request(2));
  world_.Run();
  EXPECT_TRUE(wire_->paused);
  Pass(seconds(10));
  EXPECT_FALSE(wire_->destroyed) << "that is the first look";
  Pass(seconds(10));
  EXPECT_TRUE(wire_->destroyed);
  EXPECT_TRUE(Logged("closed: it read nothing of its answers within read_timeout_ms, 10000"));
}

TEST_F(ServerTimeoutsTest, WhoReadsAByteNowAndThenIsClosedToo) {
  service_.say = [](Controller& controller, auto* done) {
    controller.response_attachment().Append(std::string(size_t{5} << 20, 'x'));
    done->Run();
  };
  Accept();
  wire_->Deliver(Request(1));
  world_.Run();
  int looks = 0;
  for (; looks < 10 && !wire_->destroyed; ++looks) {
    static_cast<void>(wire_->written.CutFront(1));
    ++wire_->info.bytes_written;
    Pass(seconds(9));
  }
  EXPECT_LE(looks, 4);
  EXPECT_TRUE(wire_->destroyed);
  EXPECT_TRUE(
      Logged("closed: it read less than 16384 bytes a second of its answers within "
             "read_timeout_ms, 10000"));
  EXPECT_EQ(core_->counters.timed_out, 1u);
}

}  // namespace
}  // namespace farcall
