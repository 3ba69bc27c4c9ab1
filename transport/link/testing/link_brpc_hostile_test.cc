// SPDX-License-Identifier: Apache-2.0
//
// brpc clients that are refused, break off, or break the rules: that connection goes on by TCP or
// ends with a reason, no other connection notices, and nothing stays behind (the fabric finds all
// freed).

#include <cerrno>
#include <chrono>
#include <functional>
#include <string>

#include "gtest/gtest.h"
#include "transport/brpc/hello_testing.h"
#include "transport/link/testing/link_brpc_testing.h"
#include "transport/why_not_rdma.h"

namespace farcall {
namespace {

// Another client that is served meanwhile, and afterwards.
class Bystander {
 public:
  explicit Bystander(BrpcClientRig& rig) : rig_(rig), end_(rig.harness.fabric(), {}) {
    Check(end_.Make(), "the stand-in makes a queue pair");
    peer_ = RawPeer::Connect(rig.harness, rig.harness.tcp(), rig.server.address());
    peer_->Send(EncodeBrpcHello(BrpcVersion::kSecond, end_.own()));
    Check(rig.harness.Until([&] { return peer_->received.size() == 40; }), "it is answered");
    Buffer input(peer_->received);
    BrpcHello answer;
    Check(CutBrpcHello(input, answer).ok() && answer.usable.ok(), "it is accepted");
    Check(end_.Join(answer.end) == 0, "it joins");
    peer_->Send(EncodeBrpcDecision(true));
  }
  bool IsServed() {
    RawPeer& server = *rig_.server.peers.at(1);
    ++asked_;
    end_.Send("ping", 0);
    return rig_.harness.Until([&] { return server.received.size() == 4 * asked_; });
  }

 private:
  BrpcClientRig& rig_;
  BrpcVerbsEnd end_;
  std::unique_ptr<RawPeer> peer_;
  size_t asked_ = 0;
};

void ExpectRefusedAndServed(BrpcClientRig& rig, WhyNotRdma why, absl::string_view detail,
                            const std::string& hello) {
  const auto answer = rig.Ask(hello);
  ASSERT_TRUE(answer.has_value());
  EXPECT_FALSE(answer->usable.ok());
  EXPECT_EQ(answer->end, BrpcEnd()) << "all zeros";
  rig.tcp->Send(EncodeBrpcDecision(false) + "PRPC");
  ASSERT_TRUE(rig.Until([&] { return rig.accepted().received == "PRPC"; }));
  rig.accepted().Send("answer");
  ASSERT_TRUE(rig.Until([&] { return rig.tcp->received == "answer"; }));
  const ConnectionInfo info = rig.accepted().info();
  EXPECT_EQ(Name(info.why_not_rdma), Name(why));
  EXPECT_NE(info.why_detail.find(std::string(detail)), std::string::npos) << info.why_detail;
  EXPECT_EQ(info.transport, TransportKind::kTcp);
}

TEST(LinkBrpcHostileTest, FieldsThatAreOutOfTheirBoundsAreRefused) {
  const auto check = [](const std::function<void(BrpcEnd&)>& change, absl::string_view detail) {
    for (const BrpcVersion version : {BrpcVersion::kSecond, BrpcVersion::kThird}) {
      BrpcClientRig rig;
      BrpcEnd end = rig.end->own();
      change(end);
      ExpectRefusedAndServed(rig, WhyNotRdma::kRejected, detail, EncodeBrpcHello(version, end));
    }
  };
  check([](BrpcEnd& end) { end.block_bytes = 1023; }, "receives of 1023 bytes");
  check([](BrpcEnd& end) { end.send_slots = 3; }, "queues for 3 sends");
  check([](BrpcEnd& end) { end.receive_slots = 0; }, "0 receives");
  check([](BrpcEnd& end) { end.number = 0; }, "names queue pair 0");
}

TEST(LinkBrpcHostileTest, ACredentialThatIsWantedIsNotInTheHello) {
  ListenOptions listen;
  listen.verify = [](absl::string_view, const Address&) { return true; };
  BrpcClientRig rig({}, PreferBrpc(), nullptr, listen);
  ExpectRefusedAndServed(rig, WhyNotRdma::kRejected, "a credential is wanted",
                         EncodeBrpcHello(BrpcVersion::kSecond, rig.end->own()));
}

TEST(LinkBrpcHostileTest, WhatTheDeviceDoesNotDoIsRefused) {
  struct Case {
    const char* call;
    int nth;  // of its calls from then on
    WhyNotRdma why;
    const char* detail;
  };
  for (const Case& one : {Case{"ibv_create_qp", 1, WhyNotRdma::kDeviceRefused, "ibv_create_qp"},
                          Case{"ibv_modify_qp", 1, WhyNotRdma::kDeviceRefused, "to INIT"},
                          Case{"ibv_modify_qp", 2, WhyNotRdma::kDeviceRefused, "to RTR"},
                          Case{"ibv_modify_qp", 3, WhyNotRdma::kDeviceRefused, "to RTS"}}) {
    BrpcClientRig rig;
    rig.harness.fabric().faults().FailCall(one.call, one.nth, EIO);
    ExpectRefusedAndServed(rig, one.why, one.detail,
                           EncodeBrpcHello(BrpcVersion::kSecond, rig.end->own()));
  }
}

TEST(LinkBrpcHostileTest, AGidThatNoPortReachesIsRefused) {
  BrpcClientRig rig({}, PreferBrpc(), [](FakeFabricOptions&, RdmaRigOptions& options) {
    options.rdma.set_up = RdmaSetUp::kRdmaCm;
  });
  ExpectRefusedAndServed(rig, WhyNotRdma::kNoAddress, "rdma.set_up is rdma_cm",
                         EncodeBrpcHello(BrpcVersion::kSecond, rig.end->own()));
}

TEST(LinkBrpcHostileTest, AHostWithoutADeviceRefuses) {
  BrpcClientRig rig({}, PreferBrpc(), [](FakeFabricOptions&, RdmaRigOptions& options) {
    options.rdma.devices = {"another"};
  });
  ExpectRefusedAndServed(rig, WhyNotRdma::kDeviceExcluded, "not in RdmaOptions.devices: another",
                         EncodeBrpcHello(BrpcVersion::kThird, rig.end->own()));
}

TEST(LinkBrpcHostileTest, APortThatTakesNoPacketsOf1024BytesRefuses) {
  BrpcClientRig rig({}, PreferBrpc(), [](FakeFabricOptions& fabric, RdmaRigOptions&) {
    for (FakeDeviceOptions& device : fabric.devices) device.active_mtu = IBV_MTU_512;
  });
  ExpectRefusedAndServed(rig, WhyNotRdma::kNoAddress, "an MTU of 1024 at least",
                         EncodeBrpcHello(BrpcVersion::kSecond, rig.end->own()));
}

// A pool that is used up but for `left` blocks, with a queue of at most `shared` receives: a brpc
// client's queue pair is refused.
void RefuseForMemory(uint32_t shared, size_t left) {
  BrpcClientRig rig({}, PreferBrpc(), [shared](FakeFabricOptions&, RdmaRigOptions& options) {
    options.rdma.shared_receives = 64;
    options.rdma.receive_slots = 64;
    options.rdma.max_shared_receives = shared;
    options.pool.max_bytes = size_t{24} << 20;
    options.loops = 1;
  });
  std::vector<BlockRef> taken;
  while (BlockRef block = rig.harness.pool().Allocate(BlockPool::kMedium)) {
    taken.push_back(std::move(block));
  }
  taken.resize(taken.size() - std::min(taken.size(), left));
  const auto answer = rig.Ask(EncodeBrpcHello(BrpcVersion::kSecond, rig.end->own()));
  ASSERT_TRUE(answer.has_value());
  EXPECT_FALSE(answer->usable.ok());
  rig.tcp->Send(EncodeBrpcDecision(false));
  ASSERT_TRUE(
      rig.Until([&] { return rig.accepted().info().why_not_rdma == WhyNotRdma::kCapacity; }));
  rig.harness.Settle();
  EXPECT_EQ(rig.harness.fabric().violations(), std::vector<std::string>());
}

TEST(LinkBrpcHostileTest, ReceivesThatFindNoMemoryAreNotPromised) { RefuseForMemory(64, 24); }

// The receives that found memory are flushed with the queue pair that was refused, into the
// completion queue of others whose shared receives have the same numbers.
TEST(LinkBrpcHostileTest, ReceivesOfARefusedQueuePairAreNotTakenForSharedOnes) {
  // For the shared receives, and some of the queue pair's own.
  RefuseForMemory(128, 64 + 4 + 24);
}

TEST(LinkBrpcHostileTest, AHelloInPiecesIsOne) {
  for (const BrpcVersion version : {BrpcVersion::kSecond, BrpcVersion::kThird}) {
    BrpcClientRig rig;
    const std::string hello = EncodeBrpcHello(version, rig.end->own());
    for (size_t i = 0; i + 1 < hello.size(); ++i) {
      rig.tcp->Send(hello.substr(i, 1));
      rig.harness.Settle();
      EXPECT_EQ(rig.tcp->received, "");
    }
    const auto answer = rig.Ask(hello.substr(hello.size() - 1));
    ASSERT_TRUE(answer && answer->usable.ok());
    ASSERT_EQ(rig.end->Join(answer->end), 0);
    for (const char byte : EncodeBrpcDecision(true)) rig.tcp->Send(absl::string_view(&byte, 1));
    rig.end->Send("x", 0);
    EXPECT_TRUE(rig.Until([&] { return rig.accepted().received == "x"; }));
  }
}

TEST(LinkBrpcHostileTest, WhatIsNoHandshakeEndsTheConnection) {
  const std::string hello = BrpcSecondFixture();
  std::string twenty;
  for (int i = 0; i < 20; ++i) twenty += hello;
  struct Case {
    std::string bytes;
    const char* why;
  };
  for (const Case& one :
       {Case{"RDMA" + BrpcBytes("0027"), "it says that it has 39 bytes"},
        Case{"RDM3" + BrpcBytes("00002001"), "it says that it has 8193 bytes"},
        Case{twenty, "the client's decision is 0x52444d41"},
        Case{hello + BrpcBytes("00000002"), "the client's decision is 0x00000002"},
        Case{BrpcBytes("52444D41 0028") + std::string(34, '\0') + BrpcBytes("00000001"),
             "wants RDMA although it was refused"}}) {
    BrpcClientRig rig;
    rig.tcp->Send(one.bytes);
    rig.ExpectBreach(one.why);
  }
}

TEST(LinkBrpcHostileTest, ABreachOnTheQueuePairEndsTheConnection) {
  struct Case {
    std::function<void(BrpcVerbsEnd&)> breach;
    const char* why;
  };
  for (const Case& one : {
           Case{[](BrpcVerbsEnd& end) { end.Send("x", 0, /*immediate=*/false); },
                "a message without a report"},
           Case{[](BrpcVerbsEnd& end) { end.Send("", 0); }, "a message that says nothing"},
           Case{[](BrpcVerbsEnd& end) { end.Send("x", 1); },
                "reported 1 messages, and 0 were sent that it had not reported"},
           Case{[](BrpcVerbsEnd& end) { end.Send("", 0xffffffff); }, "reported 4294967295"},
           Case{[](BrpcVerbsEnd& end) {
                  for (int i = 0; i < 14; ++i) end.Send("x", 0);
                },
                "without a credit"},
           Case{[](BrpcVerbsEnd& end) { end.Send(std::string(65'537, 'x'), 0); },
                "local length error"},
       }) {
    BrpcClientRig rig({.send_slots = 16});
    ASSERT_TRUE(rig.Open());
    Bystander other(rig);
    EXPECT_TRUE(other.IsServed());
    rig.accepted().SetReading(false);
    one.breach(*rig.end);
    rig.accepted().SetReading(true);
    rig.ExpectBreach(one.why);
    EXPECT_TRUE(other.IsServed());
  }
}

TEST(LinkBrpcHostileTest, AByteOnTcpBesideRdmaIsABreach) {
  BrpcClientRig rig;
  ASSERT_TRUE(rig.Open());
  rig.tcp->Send("P");
  rig.ExpectBreach("sent 1 bytes by TCP, which carries nothing beside RDMA");
}

TEST(LinkBrpcHostileTest, WhoGoesAwayLeavesNothing) {
  // At the beginning of the hello, behind it, behind the answer, and when all is open.
  for (int step = 0; step < 5; ++step) {
    BrpcClientRig rig;
    const std::string hello = EncodeBrpcHello(BrpcVersion::kSecond, rig.end->own());
    if (step == 0) rig.tcp->Send(hello.substr(0, 17));
    if (step == 1) rig.tcp->Send(hello);
    if (step == 2) {
      ASSERT_TRUE(rig.Ask(hello).has_value());
    } else if (step == 3) {
      ASSERT_TRUE(rig.Join());
    } else if (step == 4) {
      ASSERT_TRUE(rig.Open());
    }
    rig.tcp->Close(CloseMode::kAbort);
    ASSERT_TRUE(rig.Until([&] {
      return !rig.server.peers.empty() && rig.accepted().closed.has_value();
    })) << step;
  }
}

TEST(LinkBrpcHostileTest, WhoNeverGoesOnIsNotWaitedForForEver) {
  UpgradeOptions options = PreferBrpc();
  options.sniff_timeout = options.upgrade.dial = std::chrono::milliseconds(20);
  for (const size_t bytes : {size_t{2}, size_t{30}, size_t{40}}) {
    BrpcClientRig rig({}, options);
    rig.tcp->Send(EncodeBrpcHello(BrpcVersion::kSecond, rig.end->own()).substr(0, bytes));
    rig.ExpectBreach("half a h");
  }
}

TEST(LinkBrpcHostileTest, ACloseAmidstTheHandshakeSaysNothing) {
  BrpcClientRig rig;
  rig.tcp->Send(EncodeBrpcHello(BrpcVersion::kSecond, rig.end->own()).substr(0, 20));
  ASSERT_TRUE(rig.Until([&] { return !rig.server.peers.empty(); }));
  rig.harness.Settle();
  rig.accepted().Send("last");
  rig.accepted().Close(CloseMode::kFlush);
  ASSERT_TRUE(rig.Until([&] { return rig.tcp->closed.has_value(); }));
  EXPECT_EQ(rig.tcp->received, "") << "it would be taken for a hello";
}

}  // namespace
}  // namespace farcall
