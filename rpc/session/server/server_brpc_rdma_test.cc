// SPDX-License-Identifier: Apache-2.0
//
// brpc clients with RDMA on: they are refused, and their calls come over TCP on the same
// connection.

#include <gtest/gtest.h>

#include <chrono>
#include <string>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "rpc/session/server/server_session_testing.h"

namespace farcall {
namespace {

class ServerBrpcRdmaTest : public ServerSessionTest {
 protected:
  static std::string Hello() {
    return absl::HexStringToBytes(
        "52444d4100280002000100001fe00080008000000000000000000000"
        "0000ffff0a00000100000011");
  }
  static std::string Stay() { return std::string(4, '\0'); }
  // What was written since the last time.
  std::string Written() {
    world_.Run();
    return wire_->written.CutFront(wire_->written.size()).ToString();
  }
};

TEST_F(ServerBrpcRdmaTest, CallsFollowTheRefusalOnTheSameConnection) {
  Accept();
  wire_->Deliver(Hello());
  EXPECT_EQ(Written(),
            absl::StrCat(absl::HexStringToBytes("52444d410028ffff"), std::string(32, '\0')));
  wire_->Deliver(Stay() + Request(1));
  EXPECT_EQ(Answer().meta.response().error_code(), 0);
  wire_->Deliver(Request(2));
  EXPECT_EQ(Answer().meta.correlation_id(), 2);
  EXPECT_TRUE(world_.log.empty());
  EXPECT_EQ((*core_->Sessions().begin())->protocol()->name(), "baidu_std");
}

TEST_F(ServerBrpcRdmaTest, ByteByByte) {
  Accept();
  for (const char byte : Hello()) {
    EXPECT_TRUE(Written().empty());
    wire_->Deliver(absl::string_view(&byte, 1));
  }
  EXPECT_EQ(Written().size(), 40u);
  for (const char byte : Stay() + Request(1)) wire_->Deliver(absl::string_view(&byte, 1));
  EXPECT_EQ(Answer().meta.response().error_code(), 0);
}

TEST_F(ServerBrpcRdmaTest, MoreHellosEndTheConnectionWithAReason) {
  Accept();
  std::string many;
  for (int i = 0; i < 20; ++i) many += Hello();
  wire_->Deliver(many);
  EXPECT_EQ(Written().size(), 40u) << "one answer";
  EXPECT_TRUE(wire_->destroyed);
  EXPECT_TRUE(Logged("closed: malformed RDMA handshake of brpc"));
  EXPECT_EQ(core_->counters.bad_peers, 1u);
}

TEST_F(ServerBrpcRdmaTest, AHelloAmongCallsIsNoFrame) {
  Accept();
  wire_->Deliver(Hello() + Stay() + Request(1) + Hello());
  world_.Run();
  EXPECT_TRUE(wire_->destroyed);
  EXPECT_TRUE(Logged("closed: no RPC frame, which would begin with \"PRPC\": the bytes are"));
}

TEST_F(ServerBrpcRdmaTest, WrongFieldsEndTheConnectionWithAReason) {
  Accept();
  wire_->Deliver(absl::string_view("RDMA\0\5\0\0", 8));
  world_.Run();
  EXPECT_TRUE(wire_->destroyed);
  EXPECT_TRUE(Written().empty());
  EXPECT_TRUE(Logged("closed: malformed RDMA hello of brpc"));
}

TEST_F(ServerBrpcRdmaTest, WhoNeverDecidesIsNotWaitedForForEver) {
  core_->options.read_timeout_ms = 10'000;
  for (const std::string& bytes : {Hello(), Hello().substr(0, 20), std::string("RD")}) {
    wire_ = std::make_shared<FakeWire>();
    wire_->loop = world_.loop.get();
    Accept();
    wire_->Deliver(bytes);
    world_.clock.Advance(std::chrono::seconds(10));
    world_.Run();
    EXPECT_TRUE(wire_->destroyed);
  }
  EXPECT_TRUE(Logged("closed: a request was not complete within read_timeout_ms, 10000"));
}

TEST_F(ServerBrpcRdmaTest, AServerThatStopsSendsNoGoAwayAmidstTheHandshake) {
  Accept();
  wire_->Deliver(Hello());
  EXPECT_EQ(Written().size(), 40u);
  CloseAll(absl::CancelledError("the server stopped"));
  EXPECT_TRUE(Written().empty()) << "it would be taken for a hello";
  EXPECT_TRUE(wire_->destroyed);
}

}  // namespace
}  // namespace farcall
