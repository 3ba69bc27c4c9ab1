// SPDX-License-Identifier: Apache-2.0
//
// What hostile peers show while they connect, and what their messages say.

#include "transport/rdma/rdma_hostile_testing.h"

namespace farcall {
namespace {

TEST_F(RdmaHostileTest, MessagesShorterThanTheirHeader) {
  Start(Small);
  for (size_t size = 0; size < kMessageHeaderBytes; ++size) {
    ExpectBreach({std::string(size, '\0')},
                 absl::StrCat("RDMA message of ", size, " bytes is shorter than its header"));
  }
  ExpectServed();
}

TEST_F(RdmaHostileTest, MessagesWithUnknownFlags) {
  Start(Small);
  for (const size_t at : {4u, 5u, 6u, 7u}) {
    std::string message = Message(kFirst + 4, "abc");
    message[at] = 2;
    ExpectBreach({message}, "unknown flags 0x");
  }
  ExpectServed();
}

TEST_F(RdmaHostileTest, CreditsThatGoBackOrBeyond) {
  Start(Small);
  ExpectBreach({Message(kFirst + 6, "a"), Message(kFirst + 4, "b")},
               "took back 2 of the receives that it gave");
  ExpectBreach({Message(kFirst + 3, "a")}, "took back 1 of the receives that it gave");
  ExpectBreach({Message(kFirst + 1000, "a")}, "more than the 8 it may");
  ExpectBreach({Message(kFirst - 1, "a")}, "took back 5 of the receives");
  ExpectServed();
}

TEST_F(RdmaHostileTest, MessagesWithoutACredit) {
  Start(Small);
  ExpectBreach(std::vector<std::string>(12, Message(kFirst + 4, "abc")), "without a credit");
  ExpectServed();
}

TEST_F(RdmaHostileTest, AMessageLongerThanAReceive) {
  Start(Small);
  const auto end = Join();
  std::vector<ibv_sge> ranges(5, end->Range(0, 16 << 10));
  ibv_send_wr request{};
  request.sg_list = ranges.data();
  request.num_sge = static_cast<int>(ranges.size());
  request.opcode = IBV_WR_SEND;
  request.send_flags = IBV_SEND_SIGNALED;
  ibv_send_wr* bad = nullptr;
  ASSERT_EQ(ibv_post_send(end->id->qp, &request, &bad), 0);
  fabric().Settle();
  ExpectClosed(*end, "length error");
  ExpectServed();
}

// The bytes behind would otherwise stand where those of the dropped message belong.
TEST_F(RdmaHostileTest, NothingBehindABreachIsDelivered) {
  Start(Small);
  const auto end = Join();
  std::string read;
  harness_->Run(loop(), [&] {
    server_->take = [&read](TestPeer&, Buffer& input) {
      read += input.CutFront(input.size()).ToString();
      return size_t{0};
    };
  });
  Send(*end, {Message(kFirst + 4, "before"), "bad", Message(kFirst + 4, "behind")});
  ExpectClosed(*end, "shorter than its header");
  EXPECT_EQ(read, "before");
}

TEST_F(RdmaHostileTest, BytesBehindTheEndEndIt) {
  Start(Small);
  ExpectBreach({Message(kFirst + 4, "a", /*fin=*/true), Message(kFirst + 4, "b")},
               "closed by peer");
  ExpectServed();
}

// It takes what it is sent, and never gives a receive again: what is left waits for it, within
// what it was sent.
TEST_F(RdmaHostileTest, APeerThatReturnsNoCreditsHoldsUpItselfAlone) {
  Start(Small);
  const auto end = Join();
  Send(*end, {Message(kFirst + 4)});
  server_->Send(100'000);
  harness_->Settle();
  EXPECT_GE(server_->backlog(), 90'000u);
  EXPECT_EQ(server_->seen().closes, 0);
  const std::unique_ptr<TestPeer> held = std::move(server_);
  ExpectServed();
  held->Close(absl::CancelledError("enough"), CloseMode::kAbort);
  EXPECT_TRUE(harness_->Until([&] { return held->seen().closes == 1; }));
  while (end->Next()) {
  }
}

TEST_F(RdmaHostileTest, PrivateDataOfAllLengthsAndContents) {
  Start(Small);
  const UpgradePass pass = NextPass();
  const std::string good = Greeting(pass);
  TestRandom random(1);
  for (size_t size = 0; size <= 56; ++size) {
    std::string data = good.substr(0, size);
    data.resize(size, '\0');
    // Cut off, or with a byte of the magic or the token that is wrong; what stands behind is
    // skipped.
    if (size >= good.size()) {
      const size_t at = random.Below(20);
      data[at < 4 ? at : at + 4] ^= 0x5A;
    }
    const auto end = Ask(data);
    const auto event = NextEvent(*end);
    ASSERT_TRUE(event.has_value());
    ASSERT_EQ(event->type, RDMA_CM_EVENT_REJECTED) << size;
    const auto reject = DecodeRejectData(event->data);
    ASSERT_TRUE(reject.ok()) << reject.status();
    EXPECT_EQ(reject->why, WhyNotRdma::kRejected) << size;
    EXPECT_FALSE(reject->text.empty()) << size;
  }
  EXPECT_TRUE(ConnectToOffer(offer_, pass).ok()) << "the token is as good as before";
  Echo();
}

// The other part of terms that no connection could live with.
TEST_F(RdmaHostileTest, TermsOutOfTheirBounds) {
  Start(Small);
  const UpgradePass pass = NextPass();
  const std::string good = Greeting(pass);
  struct Terms {
    size_t at;
    std::string bytes;
    const char* text;
  };
  for (const Terms& terms : {Terms{28, std::string(4, '\0'), "receives of 0 bytes"},
                             Terms{28, std::string(4, '\xFF'), "receives of 4294967295 bytes"},
                             Terms{32, std::string("\0\3", 2), "gives 3 of 8 receives"},
                             Terms{32, std::string("\0\11", 2), "gives 9 of 8 receives"},
                             Terms{34, std::string(2, '\xFF'), "gives 4 of 65535 receives"}}) {
    std::string data = good;
    data.replace(terms.at, terms.bytes.size(), terms.bytes);
    const auto end = Ask(data);
    const auto event = NextEvent(*end);
    ASSERT_TRUE(event.has_value() && event->type == RDMA_CM_EVENT_REJECTED) << terms.text;
    const auto reject = DecodeRejectData(event->data);
    ASSERT_TRUE(reject.ok());
    EXPECT_TRUE(absl::StrContains(reject->text, terms.text)) << reject->text;
  }
  EXPECT_TRUE(ConnectToOffer(offer_, pass).ok());
  Echo();
}

}  // namespace
}  // namespace farcall
