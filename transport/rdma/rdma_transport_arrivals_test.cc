// SPDX-License-Identifier: Apache-2.0
//
// An attempt that failed is notified when something comes with which it may succeed.

#include <memory>
#include <set>
#include <string>

#include "gtest/gtest.h"
#include "transport/rdma/host/arrivals.h"
#include "transport/rdma/rdma_transport.h"
#include "transport/rdma/rdma_transport_testing.h"

namespace farcall {
namespace {

using Places = std::set<std::string>;

TEST(ArrivalsTest, OnlyWhatIsNewHasCome) {
  Arrivals arrivals;
  arrivals.See({});
  EXPECT_EQ(arrivals.count(), 0u);
  arrivals.See(Places{"a port 1", "a 10.0.0.1"});
  EXPECT_EQ(arrivals.count(), 1u);
  arrivals.See(Places{"a port 1", "a 10.0.0.1"});
  arrivals.See(Places{"a port 1"});
  EXPECT_EQ(arrivals.count(), 1u) << "what goes is no help";
  arrivals.See(Places{"a port 1", "a 10.0.0.2"});
  EXPECT_EQ(arrivals.count(), 2u);
  arrivals.See(Places{"a port 1", "a 10.0.0.1"});
  EXPECT_EQ(arrivals.count(), 3u) << "and back";
  arrivals.See(Places{"a port 1", "a 10.0.0.1", "ab port 1"});
  arrivals.Forget("a");
  arrivals.See(Places{"ab port 1"});
  EXPECT_EQ(arrivals.count(), 4u);
  arrivals.See(Places{"a port 1", "ab port 1"});
  EXPECT_EQ(arrivals.count(), 5u) << "it went and came between two looks";
}

TEST_F(RdmaTransportTest, WhoWatchesIsToldWhatComes) {
  Start();
  const Offer offer = Await(Pass(1));
  ASSERT_TRUE(offer.ok()) << offer.status();
  ASSERT_TRUE(ConnectToOffer(OnlyB(*offer), Pass(1)).ok());
  Echo();
  int came = 0;
  int withdrawn = 0;
  harness_->Run(loop(), [&] {
    tickets_.push_back(harness_->rdma().Watch(loop(), [&] { ++came; }));
    auto ticket = harness_->rdma().Watch(loop(), [&] { ++withdrawn; });
  });
  fabric().faults().SetPort("fakeB", false);
  ASSERT_TRUE(harness_->Until([&] { return server_->over(); }));
  harness_->Settle();
  EXPECT_EQ(came, 0);
  fabric().faults().SetPort("fakeB", true);
  ASSERT_TRUE(harness_->Until([&] { return came == 1; }));

  fabric().faults().RemoveDevice("fakeB", /*flush=*/false);
  ASSERT_TRUE(harness_->Until([&] { return !fabric().faults().RemovalPending("fakeB"); }));
  harness_->Settle();
  EXPECT_EQ(came, 1);
  ASSERT_TRUE(fabric().faults().AddDevice("fakeB"));
  ASSERT_TRUE(harness_->Until([&] { return came == 2; }));
  EXPECT_EQ(withdrawn, 0);

  // It is offered at once, though it has the addresses that were there all the time.
  const Offer again = Await(Pass(2));
  ASSERT_TRUE(again.ok()) << again.status();
  EXPECT_FALSE(OnlyB(*again).empty());
}

}  // namespace
}  // namespace farcall
