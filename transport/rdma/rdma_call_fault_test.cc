// SPDX-License-Identifier: Apache-2.0
//
// Each call of verbs and rdma_cm fails in its turn, from the first look at the devices to the
// end of a connection: nothing hangs, nothing is left, and who asked gets a result.

#include <cerrno>
#include <set>
#include <string>

#include "absl/strings/match.h"
#include "gtest/gtest.h"
#include "transport/rdma/rdma_fault_testing.h"

namespace farcall {
namespace {

// Asked in every turn: one position is like the next.
bool Repeated(const std::string& call) {
  return call == "ibv_poll_cq" || call == "ibv_req_notify_cq" || call == "ibv_get_cq_event";
}

// Their failing takes nothing away: a kernel without the option keeps its own time-out, and
// events are read again as long as there are any.
bool Harmless(const std::string& call) {
  return call == "rdma_set_option" || call == "rdma_get_cm_event" || call == "ibv_get_async_event";
}

void FailEachCall(const FakeRdma::Change& change, int error) {
  const FaultOutcome whole = RunWithoutFault(change);
  ASSERT_TRUE(whole.status.ok()) << whole.trace;
  std::set<std::string> failed;
  uint64_t repeated = 0;
  for (uint64_t number = 1; number <= whole.calls.size(); ++number) {
    const std::string& call = whole.calls[number - 1];
    if (Repeated(call) && repeated++ % (16 * PositionsApart()) != 0) continue;
    if (!Repeated(call) && number % PositionsApart() != 0) continue;
    SCOPED_TRACE(testing::Message() << "call " << number << ", " << call);
    const FaultOutcome outcome = RunWithFault(
        {[&](FakeFabric& fabric) { fabric.faults().FailCallNumber(number, error); }, change}, 0);
    ExpectReported(outcome);
    ASSERT_FALSE(::testing::Test::HasFailure());
    if (!outcome.status.ok()) failed.insert(outcome.failed_call);
  }
  for (const std::string& call : failed) EXPECT_FALSE(Harmless(call)) << call;
  if (PositionsApart() > 1) return;
  for (const char* const call :
       {"rdma_create_event_channel", "rdma_create_id", "rdma_bind_addr", "rdma_listen",
        "rdma_resolve_addr", "rdma_resolve_route", "ibv_alloc_pd", "ibv_create_comp_channel",
        "ibv_create_cq", "rdma_connect", "rdma_accept", "ibv_post_send", "ibv_poll_cq"}) {
    EXPECT_TRUE(failed.contains(call)) << call;
  }
}

TEST(RdmaCallFaultTest, EachCallFails) { FailEachCall(SmallRdma, ENOMEM); }
TEST(RdmaCallFaultTest, EachCallFailsWithoutASharedQueue) {
  FailEachCall(SmallRdmaWithoutShared, ENOMEM);
}
TEST(RdmaCallFaultTest, EachCallFailsWithReferences) {
  FailEachCall(SmallRdmaWithReferences, ENOMEM);
}
TEST(RdmaCallFaultTest, EachCallFailsOnIwarp) { FailEachCall(SmallIwarp, EIO); }

// A call that fails while a connection is set up is named by the error.
TEST(RdmaCallFaultTest, AFailedSetUpSaysWhatFailed) {
  for (const char* const call :
       {"rdma_create_event_channel", "rdma_create_id", "rdma_bind_addr", "rdma_listen",
        "rdma_resolve_addr", "rdma_resolve_route", "rdma_create_qp", "ibv_alloc_pd",
        "ibv_create_comp_channel", "ibv_create_cq", "ibv_create_srq", "ibv_reg_mr", "rdma_connect",
        "rdma_accept", "ibv_post_send"}) {
    SCOPED_TRACE(call);
    // A registration is tried once more, without relaxed ordering.
    FaultCase test;
    test.fault = [&](FakeFabric& fabric) {
      fabric.faults().FailCall(call, 1, EPERM);
      fabric.faults().FailCall(call, 2, EPERM);
    };
    const FaultOutcome outcome = RunWithFault(test, 0);
    ASSERT_FALSE(outcome.status.ok());
    EXPECT_EQ(outcome.failed_call, call);
    ExpectReported(outcome, call);
    EXPECT_TRUE(absl::StrContains(outcome.trace, "Operation not permitted")) << outcome.trace;
  }
}

}  // namespace
}  // namespace farcall
