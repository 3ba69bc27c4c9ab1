// SPDX-License-Identifier: Apache-2.0
//
// Set-up over TCP, where the messages of the dialling end are not what they should be.

#include <algorithm>
#include <chrono>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "transport/rdma/cm/port_set_up.h"
#include "transport/rdma/rdma_transport_testing.h"

namespace farcall {
namespace {

class RdmaSetUpMessagesTest : public RdmaTransportTest {
 protected:
  void StartOverTcp() {
    Start([](FakeFabricOptions&, RdmaRigOptions& rig) {
      rig.rdma.set_up = RdmaSetUp::kOverTcp;
      rig.rdma.devices = {"fakeA", "fakeB"};
      rig.rdma.read_at_least = 4 << 10;
      rig.rdma.read_window = 8;
    });
  }
  absl::Status DialB(uint8_t token) {
    const Offer offer = Await(Pass(token));
    return offer.ok() ? Dial(OnlyB(*offer), Pass(token)) : offer.status();
  }
};

// A second CONNECT comes before the first is accepted, a second READY when all is done.
TEST_F(RdmaSetUpMessagesTest, WhatComesTwiceHarmsItsOwnAttemptAtMost) {
  StartOverTcp();
  timeout_ = std::chrono::milliseconds(100);
  for (const PortSetUp::Kind twice : {PortSetUp::Kind::kConnect, PortSetUp::Kind::kReady}) {
    SCOPED_TRACE(static_cast<int>(twice));
    int seen = 0;
    on_the_way_ = [&](const std::string& message) {
      const bool its = seen == 0 && ParsePortSetUp(message)->kind == twice;
      seen += its;
      return std::vector<std::string>(its ? 2 : 1, message);
    };
    const absl::Status dialed = DialB(1);
    EXPECT_EQ(seen, 1);
    EXPECT_EQ(dialed.ok(), twice == PortSetUp::Kind::kReady) << dialed;
    if (dialed.ok()) Echo();
    Drop();
    timeout_ = std::chrono::seconds(5);
    const absl::Status next = DialB(2);
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
    if (changed.kind == PortSetUp::Kind::kConnect) changed.answers = 3;
    return std::vector<std::string>{EncodePortSetUp(changed)};
  };
  ASSERT_TRUE(DialB(1).ok());
  std::vector<int> begun;
  for (const uint32_t number : fabric().faults().QueuePairs("fakeB")) {
    begun.push_back(fabric().queue_pair(number).max_rd_atomic);
  }
  std::sort(begun.begin(), begun.end());
  EXPECT_EQ(begun, (std::vector<int>{3, 8}));
  Echo();
}

}  // namespace
}  // namespace farcall
