// SPDX-License-Identifier: Apache-2.0
//
// Set-up over TCP, where the messages of an end are not what they should be, or it ends amid them.

#include <chrono>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_join.h"
#include "gtest/gtest.h"
#include "transport/rdma/cm/port_set_up.h"
#include "transport/rdma/rdma_transport_testing.h"
#include "transport/rdma/testing/stepped_clock.h"

namespace farcall {
namespace {

class RdmaSetUpMessagesTest : public RdmaTransportTest {
 protected:
  using Kind = PortSetUp::Kind;

  ~RdmaSetUpMessagesTest() override { Finish(); }  // while there is its clock

  // `clock`: the steady one if null.
  void StartOverTcp(const Clock* clock = nullptr) {
    Start([clock](FakeFabricOptions& fabric, RdmaRigOptions& rig) {
      fabric.devices.at(1).active_mtu = IBV_MTU_2048;
      rig.clock = clock;
      rig.rdma.set_up = RdmaSetUp::kOverTcp;
      rig.rdma.devices = {"fakeA", "fakeB"};
      rig.rdma.read_at_least = 4 << 10;
      rig.rdma.read_window = 8;
    });
  }
  absl::Status ConnectToB(uint8_t token) {
    const Offer offer = Await(Pass(token));
    return offer.ok() ? ConnectToOffer(OnlyB(*offer), Pass(token)) : offer.status();
  }
  // The messages of this kind come changed.
  template <typename Change>
  void Spoil(Kind kind, const Change& change) {
    on_the_way_ = on_the_way_back_ = [kind, change](const std::string& message) {
      PortSetUp changed = *ParsePortSetUp(message);
      if (changed.kind == kind) change(changed);
      return std::vector{EncodePortSetUp(changed)};
    };
  }
  size_t QueuePairsOnB() { return fabric().faults().QueuePairs("fakeB").size(); }
  // In whatever state.
  bool HasQueuePairs() {
    return absl::StrContains(absl::StrJoin(fabric().Leaks(), "\n"), "queue pair");
  }
  // Lets all happen that takes no time, and then the time for a set-up pass, at either end.
  void TimeIsOver() {
    harness_->Settle();
    clock_.AdvanceTo(clock_.Now() + timeout_);
  }

  // For set-ups that end by their time.
  SteppedClock clock_;
};

// A second CONNECT comes before the first is accepted, a second READY when all is done.
TEST_F(RdmaSetUpMessagesTest, WhatComesTwiceHarmsItsOwnAttemptAtMost) {
  StartOverTcp(&clock_);
  for (const Kind twice : {Kind::kConnect, Kind::kReady}) {
    SCOPED_TRACE(static_cast<int>(twice));
    int seen = 0;
    on_the_way_ = [&](const std::string& message) {
      const bool its = seen == 0 && ParsePortSetUp(message)->kind == twice;
      seen += its;
      return std::vector<std::string>(its ? 2 : 1, message);
    };
    const Offer offer = Await(Pass(1));
    ASSERT_TRUE(offer.ok());
    std::optional<absl::Status> result;
    auto ticket = BeginConnect(OnlyB(*offer), Pass(1), result);
    ASSERT_TRUE(harness_->Until([&] { return seen == 1; }));
    if (twice == Kind::kConnect) TimeIsOver();
    ASSERT_TRUE(harness_->Until([&] { return result.has_value(); }));
    EXPECT_EQ(result->ok(), twice == Kind::kReady) << *result;
    EndConnect(ticket);
    if (result->ok()) Echo();
    Drop();
    const absl::Status next = ConnectToB(2);
    ASSERT_TRUE(next.ok()) << next;
    Echo();
    Drop();
  }
}

// IBTA 9.4.4: who begins more READs than the other end answers breaks the queue pair.
TEST_F(RdmaSetUpMessagesTest, NoMoreReadsAreBegunThanTheOtherEndAnswers) {
  StartOverTcp();
  on_the_way_ = [&](const std::string& message) {
    PortSetUp changed = *ParsePortSetUp(message);
    if (changed.kind == Kind::kConnect) changed.answers = 3;
    return std::vector<std::string>{EncodePortSetUp(changed)};
  };
  ASSERT_TRUE(ConnectToB(1).ok());
  std::vector<int> begun;
  for (const uint32_t number : fabric().faults().QueuePairs("fakeB")) {
    begun.push_back(fabric().queue_pair(number).max_rd_atomic);
  }
  std::sort(begun.begin(), begun.end());
  EXPECT_EQ(begun, (std::vector<int>{3, 8}));
  Echo();
}

// What is left of an earlier connection, or made up by somebody else, is no packet of this one.
TEST_F(RdmaSetUpMessagesTest, PacketNumbersBeginElsewhereEachTime) {
  StartOverTcp();
  std::set<uint32_t> numbers;
  on_the_way_ = on_the_way_back_ = [&](const std::string& message) {
    const PortSetUp parsed = *ParsePortSetUp(message);
    if (parsed.kind != Kind::kReady) numbers.insert(parsed.first_packet);
    return std::vector{message};
  };
  constexpr uint8_t kTimes = 8;
  for (uint8_t token = 1; token <= kTimes; ++token) {
    ASSERT_TRUE(ConnectToB(token).ok());
    Drop();
  }
  // Of 16 out of 2^24 two are the same once in 140,000 runs, three nearly never.
  EXPECT_GE(numbers.size(), 2 * kTimes - 1u);
}

// Also where the peer tells a larger one than this port has: the device would refuse that.
TEST_F(RdmaSetUpMessagesTest, TheSmallerMtuOfBothPortsCounts) {
  StartOverTcp();
  on_the_way_ = on_the_way_back_ = [](const std::string& message) {
    PortSetUp changed = *ParsePortSetUp(message);
    if (changed.kind == Kind::kConnect) changed.mtu = 1024;
    if (changed.kind == Kind::kAccept) changed.mtu = 4096;
    return std::vector{EncodePortSetUp(changed)};
  };
  const absl::Status connect_status = ConnectToB(1);
  ASSERT_TRUE(connect_status.ok()) << connect_status;
  std::vector<ibv_mtu> mtus;
  for (const uint32_t number : fabric().faults().QueuePairs("fakeB")) {
    mtus.push_back(fabric().queue_pair(number).path_mtu);
  }
  std::sort(mtus.begin(), mtus.end());
  EXPECT_EQ(mtus, (std::vector<ibv_mtu>{IBV_MTU_1024, IBV_MTU_2048}));
}

// Numbers of no queue pair, of that of another connection, packets that are not sent next, a
// port elsewhere: what is set up by them ends, and another connection of the same peer goes on.
TEST_F(RdmaSetUpMessagesTest, NumbersOfAPeerThatLiesHarmItsOwnConnectionAlone) {
  StartOverTcp();
  ASSERT_TRUE(ConnectToB(1).ok());
  Echo();
  const std::unique_ptr<TestPeer> good_client = std::move(client_);
  const std::unique_ptr<TestPeer> good_server = std::move(server_);
  uint8_t token = 1;
  for (const Kind kind : {Kind::kConnect, Kind::kAccept}) {
    for (const std::string lie : {"no pair's", "another's", "packet", "port"}) {
      SCOPED_TRACE(testing::Message() << static_cast<int>(kind) << " " << lie);
      const std::vector<uint32_t> others = fabric().faults().QueuePairs("fakeB");
      ASSERT_EQ(others.size(), 2u);
      int changed = 0;
      Spoil(kind, [&](PortSetUp& message) {
        ++changed;
        if (lie == "no pair's") message.number ^= 0x800000;
        if (lie == "another's") message.number = others.at(changed % 2);
        if (lie == "packet") message.first_packet ^= 1;
        if (lie == "port") message.gid.back() ^= 0x70;
      });
      const absl::Status connect_status = ConnectToB(++token);
      EXPECT_EQ(changed, 1);
      if (connect_status.ok()) {
        client_->Send(1000);
        EXPECT_TRUE(harness_->Until(
            [&] { return client_->over() || (server_ != nullptr && server_->over()); }));
        EXPECT_EQ(client_->seen().received, 0u);
      }
      Drop();
      ASSERT_TRUE(harness_->Until([&] { return QueuePairsOnB() == 2; }));
      EXPECT_FALSE(good_client->over() || good_server->over());
      good_client->Send(100'000);
      ASSERT_TRUE(
          harness_->Until([&] { return good_client->seen().received == good_client->sent(); }));
    }
  }
}

// What was said last is lost, so that the queue pairs stay as they are then: in INIT, RTS and INIT,
// or both in RTS with a server that does not know. The TCP connection tells the other end, or,
// where a whole host is gone, its time.
TEST_F(RdmaSetUpMessagesTest, APeerThatDiesBetweenInitAndRtsLeavesNothing) {
  enum class Dies { kClient, kServer, kUnheard };
  for (const Kind lost : {Kind::kConnect, Kind::kAccept, Kind::kReady}) {
    for (const Dies dies : {Dies::kClient, Dies::kServer, Dies::kUnheard}) {
      SCOPED_TRACE(testing::Message() << static_cast<int>(lost) << " " << static_cast<int>(dies));
      const bool unheard = dies == Dies::kUnheard;
      StartOverTcp(&clock_);
      int losses = 0;
      on_the_way_ = on_the_way_back_ = [&](const std::string& message) {
        const bool its = losses == 0 && ParsePortSetUp(message)->kind == lost;
        losses += its;
        return std::vector<std::string>(its ? 0 : 1, message);
      };
      const Offer offer = Await(Pass(1));
      ASSERT_TRUE(offer.ok());
      std::optional<absl::Status> result;
      auto ticket = BeginConnect(OnlyB(*offer), Pass(1), result);
      ASSERT_TRUE(harness_->Until([&] { return losses == 1; }));
      EXPECT_TRUE(HasQueuePairs());
      EXPECT_EQ(QueuePairsOnB(), lost == Kind::kConnect ? 0u : lost == Kind::kAccept ? 1u : 2u);
      const auto end_client = [&] {
        client_.reset();
        EndConnect(ticket);
        harness_->Settle();
      };
      const auto end_server = [&] {
        harness_->Run(loop(), [&] { tickets_.clear(); });
        harness_->Settle();
      };
      if (unheard) TimeIsOver();
      if (dies == Dies::kClient) end_client();
      if (!unheard) end_server();
      if (dies == Dies::kServer) end_client();
      if (lost == Kind::kReady && unheard) {
        ASSERT_TRUE(harness_->Until([&] { return client_ != nullptr && QueuePairsOnB() == 1; }));
        client_->Send(1000);
        ASSERT_TRUE(harness_->Until([&] { return client_->over(); }));
        client_.reset();
      }
      EXPECT_TRUE(harness_->Until([&] { return !HasQueuePairs(); }));
      EXPECT_EQ(server_, nullptr);
      if (unheard) end_client();
      Drop();
      const absl::Status next = ConnectToB(2);
      EXPECT_TRUE(next.ok()) << next;
      Finish();
    }
  }
}

}  // namespace
}  // namespace farcall
