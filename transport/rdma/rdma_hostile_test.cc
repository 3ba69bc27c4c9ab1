// SPDX-License-Identifier: Apache-2.0
//
// Peers that break the rules of the RDMA connection, by hand: what they show while they connect,
// what their messages say, and what they leave undone. That connection ends with a text that
// names the rule; who comes after it is served.

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "transport/rdma/flow/credit_flow.h"
#include "transport/rdma/flow/message_header.h"
#include "transport/rdma/flow/private_data.h"
#include "transport/rdma/rdma_transport_testing.h"
#include "transport/rdma/testing/fabric_end.h"
#include "transport/rdma/testing/stepped_clock.h"
#include "transport/testing/test_random.h"
#include "transport/why_not_rdma.h"

namespace farcall {
namespace {

constexpr uint32_t kFirst = CreditFlow::kFirstCount;
// Slots of the hostile end: receives of 1 KiB before these, messages to send from here.
constexpr size_t kSendFrom = 32;

void Small(FakeFabricOptions&, RdmaRigOptions& rig) {
  rig.loops = 2;
  rig.rdma.shared_receives = 64;
  rig.rdma.receive_slots = rig.rdma.send_slots = 8;
  rig.pool.region_bytes = size_t{8} << 20;
}

std::string Message(uint32_t count, const std::string& payload = "", bool fin = false) {
  std::string bytes(kMessageHeaderBytes, '\0');
  EncodeMessageHeader({.count = count, .fin = fin}, bytes.data());
  return bytes + payload;
}

class RdmaHostileTest : public RdmaTransportTest {
 protected:
  using Event = FabricEnd::Event;

  std::string Greeting(const UpgradePass& pass) {
    ConnectData data;
    data.token = pass.token;
    data.generation = pass.generation;
    data.receives = {.block_bytes = 1024, .initial_receives = 4, .receive_slots = 8};
    data.receives.windows = data.receives.reads = reads_;
    const auto bytes = EncodeConnectData(data);
    return std::string(bytes.data(), bytes.size());
  }
  // Awaits with a token of its own.
  UpgradePass NextPass() {
    ++tokens_;
    UpgradePass pass = Pass(1, tokens_);
    pass.token[0] = static_cast<uint8_t>(tokens_);
    pass.token[1] = static_cast<uint8_t>(tokens_ >> 8);
    const Offer offer = Await(pass);
    EXPECT_TRUE(offer.ok()) << offer.status();
    if (offer.ok()) offer_ = OnlyB(*offer);
    return pass;
  }
  // An end at fakeA that has asked to be let in at fakeB, with `data`.
  std::unique_ptr<FabricEnd> Ask(const std::string& data) {
    FabricEndOptions options;
    options.cap.max_send_sge = 8;
    options.reads = reads_;
    auto end = std::make_unique<FabricEnd>(fabric(), options);
    EXPECT_TRUE(end->MakeId());
    EXPECT_TRUE(end->Resolve("10.9.0.2", offer_.front().address.port(), "10.9.0.1"));
    EXPECT_TRUE(end->Prepare());
    for (size_t i = 0; i < 8; ++i) EXPECT_EQ(end->Receive(4 * i, 1024, i), 0);
    EXPECT_TRUE(end->Connect(data));
    return end;
  }
  std::optional<Event> NextEvent(FabricEnd& end) {
    std::optional<Event> event;
    EXPECT_TRUE(harness_->Until([&] {
      event = end.Next();
      return event.has_value();
    }));
    return event;
  }
  // Let in, and known at the server.
  std::unique_ptr<FabricEnd> Join() {
    server_.reset();
    auto end = Ask(Greeting(NextPass()));
    const auto event = NextEvent(*end);
    EXPECT_TRUE(event.has_value() && event->type == RDMA_CM_EVENT_ESTABLISHED);
    EXPECT_TRUE(harness_->Until([&] { return server_ != nullptr; }));
    return end;
  }
  // All of them, before the server looks.
  void Send(FabricEnd& end, const std::vector<std::string>& messages) {
    for (size_t i = 0; i < messages.size(); ++i) {
      const size_t slot = kSendFrom + i % (FabricEnd::kSlots - kSendFrom);
      end.Fill(slot, messages[i]);
      ASSERT_EQ(end.Send(slot, static_cast<uint32_t>(messages[i].size()), i), 0);
    }
    fabric().Settle();
  }
  void ExpectClosed(FabricEnd& end, absl::string_view text) {
    ASSERT_TRUE(harness_->Until([&] { return server_->seen().closes == 1; })) << text;
    EXPECT_TRUE(absl::StrContains(server_->seen().why.message(), text)) << server_->seen().why;
    EXPECT_TRUE(absl::StrContains(server_->seen().why.message(), "10.9.0.1")) << "who it was";
    while (end.Next()) {
    }
  }
  void ExpectBreach(const std::vector<std::string>& messages, absl::string_view text) {
    const auto end = Join();
    Send(*end, messages);
    ExpectClosed(*end, text);
  }
  void ExpectServed() {
    server_.reset();
    const UpgradePass pass = NextPass();
    EXPECT_TRUE(ConnectToOffer(offer_, pass).ok());
    Echo();
  }

  uint32_t tokens_ = 0;
  uint8_t reads_ = 0;  // and windows, of the hostile end
  std::vector<UpgradeAddress> offer_;
};

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

// --- References to memory that the other end is to fetch.

void SmallReads(FakeFabricOptions& fabric, RdmaRigOptions& rig) {
  Small(fabric, rig);
  rig.rdma.read_at_least = 4 << 10;
  rig.rdma.read_window = 2;
}

// Of garbage.
std::string Reference(uint32_t length, uint16_t read = 0, bool fin = false) {
  std::string bytes(kMessageHeaderBytes + RemoteBytes::kEncodedBytes, '\0');
  EncodeMessageHeader({.count = kFirst + 4, .fin = fin, .reference = true, .references_read = read},
                      bytes.data());
  EncodeRemoteBytes({.address = 0x1000, .key = 0x7777, .length = length},
                    bytes.data() + kMessageHeaderBytes);
  return bytes;
}

TEST_F(RdmaHostileTest, ReferencesThatCannotBe) {
  Start(SmallReads);
  reads_ = 2;
  ExpectBreach({Reference(0)}, "refers to 0 bytes");
  ExpectBreach({Reference((1 << 20) + 1)}, "refers to 1048577 bytes");
  ExpectBreach({Reference(~0u)}, "refers to 4294967295 bytes");
  ExpectBreach({Reference(4096).substr(0, 23)}, "is to have a reference");
  ExpectBreach({Reference(4096) + "x"}, "is to have a reference");
  ExpectBreach({Reference(4096, /*read=*/1)}, "has read 1 references more, where 0 are open");
  ExpectBreach({Reference(4096, /*read=*/0xffff)}, "references more, where 0 are open");
  reads_ = 0;
  ExpectBreach({Reference(4096)}, "unknown flags 0x");
  ExpectServed();
}

// Of which as many wait as it has windows.
TEST_F(RdmaHostileTest, MoreReferencesThanItHasWindows) {
  Start(SmallReads);
  reads_ = 2;
  const auto end = Join();
  server_->Pause();
  Send(*end, std::vector<std::string>(3, Reference(4096)));
  ASSERT_TRUE(harness_->Until([&] {
    while (end->Next()) {
    }
    server_->Resume();
    return server_->seen().closes == 1;
  }));
  EXPECT_EQ(fabric().counters("fakeB").reads, 0u) << "of what breaks the rules nothing is fetched";
  ExpectServed();
}

// A key, or an address, of nothing: the device at the other end refuses.
TEST_F(RdmaHostileTest, AReferenceToWhatIsNotOpen) {
  Start(SmallReads);
  reads_ = 2;
  ExpectBreach({Reference(4096)}, "lost");
  EXPECT_EQ(fabric().counters("fakeB").reads, 1u);
  ExpectServed();
}

// It is given references and never reads: what is open to it is bounded, and closed with it.
TEST_F(RdmaHostileTest, APeerThatNeverReadsWhatItWasReferredTo) {
  Start(SmallReads);
  reads_ = 2;
  const auto end = Join();
  Send(*end, {Message(kFirst + 8)});
  server_->Send(1 << 20);
  harness_->Settle();
  EXPECT_LE(fabric().counters("fakeB").binds, 2u);
  EXPECT_EQ(server_->seen().closes, 0);
  server_->Close(absl::CancelledError("enough"), CloseMode::kAbort);
  EXPECT_TRUE(harness_->Until([&] { return server_->seen().closes == 1; }));
  while (end->Next()) {
  }
  ExpectServed();
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

// Let in, and never ready: each is given up after connect_timeout, and its token stays void.
TEST_F(RdmaHostileTest, HalfOpenConnectsAreGivenUp) {
  Start([](FakeFabricOptions& fabric, RdmaRigOptions& rig) {
    Small(fabric, rig);
    rig.rdma.shared_receives = 512;
    rig.pool.region_bytes = size_t{64} << 20;
    rig.rdma.connect_timeout = std::chrono::milliseconds(500);
  });
  std::vector<UpgradePass> passes;
  for (int i = 0; i < 40; ++i) passes.push_back(NextPass());
  std::vector<std::unique_ptr<FabricEnd>> ends;
  for (const UpgradePass& pass : passes) ends.push_back(Ask(Greeting(pass)));
  harness_->Settle();
  ExpectServed();
  server_.reset();
  EXPECT_TRUE(harness_->Until([&] { return fabric().faults().QueuePairs("fakeB").empty(); }))
      << "their time is over";
  EXPECT_FALSE(ConnectToOffer(offer_, passes[7]).ok()) << "it was shown";
  ExpectServed();
  for (const auto& end : ends) {
    while (end->Next()) {
    }
  }
}

// As many as may be set up at once, all half open: a client that comes then gets the reason, and is
// let in when their time is over. Nothing is left of any of them.
class RdmaCrowdTest : public RdmaHostileTest {
 protected:
  static constexpr int kMax = 256;  // RdmaHost's

  RdmaCrowdTest() {
    Start([this](FakeFabricOptions& fabric, RdmaRigOptions& rig) {
      Small(fabric, rig);
      // Four receives for each.
      rig.rdma.shared_receives = 2048;
      rig.rdma.receive_slots = 4;
      rig.pool.region_bytes = size_t{64} << 20;
      rig.clock = &clock_;
    });
  }
  ~RdmaCrowdTest() override {
    clock_.SetRunning(true);
    Finish();
  }
  SteppedClock clock_;
};

TEST_F(RdmaCrowdTest, HalfOpenConnectsAtTheLimitHoldUpOthersForTheirTimeOnly) {
  std::vector<std::unique_ptr<FabricEnd>> ends;
  for (int i = 0; i < kMax; ++i) {
    const std::string greeting = Greeting(NextPass());
    ends.push_back(Ask(greeting));
  }
  harness_->Settle();
  const UpgradePass pass = NextPass();
  const absl::Status refused = ConnectToOffer(offer_, pass);
  EXPECT_TRUE(absl::StrContains(refused.message(), "capacity")) << refused;
  EXPECT_TRUE(absl::StrContains(refused.message(), "too many connections")) << refused;
  clock_.AdvanceTo(clock_.Now() + RdmaOptions().connect_timeout);
  harness_->Settle();
  // Its token was not used up.
  const absl::Status connect_status = ConnectToOffer(offer_, pass);
  EXPECT_TRUE(connect_status.ok()) << connect_status;
  Echo();
  for (const auto& end : ends) {
    while (end->Next()) {
    }
  }
}

}  // namespace
}  // namespace farcall
