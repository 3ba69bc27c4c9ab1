// SPDX-License-Identifier: Apache-2.0
//
// Each status that a completion can have, of each send and of each receive.

#include <algorithm>
#include <string>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "transport/rdma/rdma_fault_testing.h"

namespace farcall {
namespace {

constexpr int kLast = IBV_WC_TM_RNDV_INCOMPLETE;

struct Kind {
  const char* name;
  void (*fail)(FakeFaults& faults, const char* device, int nth, ibv_wc_status status);
  const char* vendors = "";  // is told behind the status
};

void ASend(FakeFaults& faults, const char* device, int nth, ibv_wc_status status) {
  faults.FailSend(device, nth, status, 0x81);
}
void ADeliveredSend(FakeFaults& faults, const char* device, int nth, ibv_wc_status status) {
  faults.FailSend(device, nth, status, 0, /*delivered=*/true);
}
void AReceive(FakeFaults& faults, const char* device, int nth, ibv_wc_status status) {
  faults.FailReceive(device, nth, status);
}

class RdmaStatusFaultTest : public ::testing::TestWithParam<Kind> {
 protected:
  static void FailEach(const FakeRdma::Change& change) {
    const FaultOutcome whole = RunWithoutFault(change);
    ASSERT_TRUE(whole.status.ok()) << whole.trace;
    const int messages = static_cast<int>(std::max(whole.sends, whole.receives));
    ASSERT_GT(messages, 8);
    int turn = 0;
    for (int status = IBV_WC_SUCCESS + 1; status <= kLast; ++status) {
      int broken = 0;
      for (const char* const device : {"fakeA", "fakeB"}) {
        // All positions for the first, then each status at its own ones, some of which are in
        // the midst of it: what follows is the same code for all.
        const int apart = status == IBV_WC_SUCCESS + 1
                              ? PositionsApart()
                              : std::min(4 * PositionsApart(), messages / 4);
        for (int nth = 1 + turn++ % apart; nth <= messages; nth += apart) {
          broken += Fail(change, device, nth, static_cast<ibv_wc_status>(status)) ? 1 : 0;
          ASSERT_FALSE(::testing::Test::HasFailure());
        }
      }
      EXPECT_GT(broken, 0) << "the fault was one";
    }
  }

 private:
  // Whether it was noticed.
  static bool Fail(const FakeRdma::Change& change, const char* device, int nth,
                   ibv_wc_status status) {
    std::string name;
    FaultCase test;
    test.change = change;
    test.fault = [&](FakeFabric& fabric) {
      name = absl::StrCat(fabric.api().ibv.wc_status_str(status), GetParam().vendors);
      GetParam().fail(fabric.faults(), device, nth, status);
    };
    SCOPED_TRACE(testing::Message() << device << ", message " << nth << ", status " << status);
    const FaultOutcome outcome = RunWithFault(test, 0);
    ExpectReported(outcome, name);
    return !outcome.status.ok();
  }
};

TEST_P(RdmaStatusFaultTest, EachStatusBreaksTheConnectionAndIsTold) { FailEach(SmallRdma); }
TEST_P(RdmaStatusFaultTest, EachStatusIsToldWithoutASharedQueue) {
  FailEach(SmallRdmaWithoutShared);
}

INSTANTIATE_TEST_SUITE_P(Of, RdmaStatusFaultTest,
                         ::testing::Values(Kind{"ASend", ASend, " (vendor error 0x81)"},
                                           Kind{"ADeliveredSend", ADeliveredSend},
                                           Kind{"AReceive", AReceive}),
                         [](const auto& one) { return one.param.name; });

}  // namespace
}  // namespace farcall
