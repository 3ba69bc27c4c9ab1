// SPDX-License-Identifier: Apache-2.0
//
// Whom a server keeps waiting because the kernel looked long for a client's GID.

#include <cerrno>
#include <chrono>
#include <utility>

#include "absl/strings/match.h"
#include "gtest/gtest.h"
#include "transport/rdma/rdma_transport_testing.h"
#include "transport/rdma/testing/shifted_clock.h"
#include "transport/why_not_rdma.h"

namespace farcall {
namespace {

// What the next step to RTR does: functions of the table have no state of their own.
struct SlowStep {
  ShiftedClock clock;
  decltype(&::ibv_modify_qp) modify = nullptr;
  Duration time{};
  int error = 0;
};
SlowStep* slow_step = nullptr;

int ModifySlowly(ibv_qp* pair, ibv_qp_attr* attributes, int mask) {
  const bool looks = (mask & IBV_QP_STATE) != 0 && attributes->qp_state == IBV_QPS_RTR;
  if (looks) {
    slow_step->clock.Add(std::exchange(slow_step->time, Duration::zero()));
    if (const int error = std::exchange(slow_step->error, 0); error != 0) return error;
  }
  return slow_step->modify(pair, attributes, mask);
}

class RdmaAcceptPauseTest : public RdmaTransportTest {
 protected:
  RdmaAcceptPauseTest() {
    slow_step = &step_;
    Start([this](FakeFabricOptions&, RdmaRigOptions& rig) {
      rig.rdma.set_up = RdmaSetUp::kOverTcp;
      rig.clock = &step_.clock;
      rig.load = [this]() -> absl::StatusOr<VerbsApi> {
        VerbsApi api = fabric().api();
        step_.modify = std::exchange(api.ibv.modify_qp, &ModifySlowly);
        return api;
      };
    });
  }
  ~RdmaAcceptPauseTest() override { Finish(); }

  // Another TCP connection each time.
  absl::Status Attempt() {
    const Offer offer = Await(Pass(++token_));
    return offer.ok() ? ConnectToOffer(OnlyB(*offer), Pass(token_)) : offer.status();
  }
  static bool IsPaused(const absl::Status& status) {
    return absl::StrContains(status.message(), "set-up over TCP pauses");
  }

  SlowStep step_;
  uint8_t token_ = 0;
};

TEST_F(RdmaAcceptPauseTest, AfterALongSearchInVainOthersWaitForTwentyTimesAsLong) {
  step_.time = std::chrono::seconds(1);
  step_.error = ETIMEDOUT;
  const absl::Status failed = Attempt();
  EXPECT_TRUE(absl::StrContains(failed.message(), "RTR")) << failed;
  EXPECT_TRUE(IsPaused(Attempt()));
  // The step has taken more than that, on a busy machine.
  step_.clock.Add(std::chrono::seconds(60));
  const absl::Status again = Attempt();
  EXPECT_TRUE(again.ok()) << again;
}

// A machine that is busy, or the first packet to a host, is no reason.
TEST_F(RdmaAcceptPauseTest, AfterALongSearchThatFoundTheWayNobodyWaits) {
  step_.time = std::chrono::seconds(1);
  const absl::Status slow = Attempt();
  EXPECT_TRUE(slow.ok()) << slow;
  client_.reset();
  server_.reset();
  const absl::Status next = Attempt();
  EXPECT_TRUE(next.ok()) << next;
}

TEST_F(RdmaAcceptPauseTest, AQuickRefusalKeepsNobodyWaiting) {
  step_.error = EINVAL;
  EXPECT_FALSE(Attempt().ok());
  const absl::Status next = Attempt();
  EXPECT_TRUE(next.ok()) << next;
}

}  // namespace
}  // namespace farcall
