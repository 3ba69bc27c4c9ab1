// SPDX-License-Identifier: Apache-2.0
//
// Something goes wrong once, anywhere in the life of a server and its clients: every call
// ends once and well, since TCP carries on; RDMA is soon used again; nothing is left; and status
// and log say why.

#include "rpc/testing/rdma/rdma_story.h"

#include <algorithm>
#include <cerrno>
#include <string>
#include <tuple>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "rpc/testing/process_resources.h"
#include "transport/base/sanitizer.h"
#include "transport/rdma/testing/fault_run.h"
#include "transport/testing/seeds_here.h"

namespace farcall {
namespace {

// Each test takes a share of all positions, so that they can run side by side. Sanitizers make
// a story ten times slower: there, some positions stand for all. ThreadSanitizer needs few: one
// thread turns all loops, and a second one does no more than stop the server.
constexpr int kShares = kThreadSanitizer ? 1 : kSanitized ? 2 : 8;
constexpr int kApart = kThreadSanitizer ? 96 : 12;

// The inner loop, which runs a tenth of the seeds, plays as few as AddressSanitizer.
int Apart() {
  return kSanitized ? kApart : std::max(kApart / static_cast<int>(SeedsHere(kApart)), 1);
}

StoryOutcome Play(const StoryPlan& plan) {
  const size_t descriptors = OpenDescriptors();
  StoryOutcome outcome = RdmaStory(plan).Play();
  EXPECT_EQ(OpenDescriptors(), descriptors);
  EXPECT_EQ(outcome.violation, "") << outcome.log;
  return outcome;
}

// A way of set-up, and a share.
class RdmaStoryTest : public testing::TestWithParam<std::tuple<RdmaSetUp, int>> {
 protected:
  static StoryPlan Plan(const FakeRdma::Change& change = SmallRdma) {
    StoryPlan plan;
    plan.change = [change](FakeFabricOptions& fabric, RdmaRigOptions& rig) {
      change(fabric, rig);
      rig.rdma.set_up = std::get<RdmaSetUp>(GetParam());
    };
    return plan;
  }
  // One position after the other, of this share.
  bool Mine() { return position_++ % (kShares * Apart()) == std::get<int>(GetParam()); }

  const StoryOutcome whole_ = Play(Plan());

 private:
  int position_ = 0;
};

std::string NameOf(const testing::TestParamInfo<std::tuple<RdmaSetUp, int>>& info) {
  return absl::StrCat(ToString(std::get<RdmaSetUp>(info.param)), "_", std::get<int>(info.param));
}

INSTANTIATE_TEST_SUITE_P(BothWays, RdmaStoryTest,
                         testing::Combine(testing::Values(RdmaSetUp::kRdmaCm, RdmaSetUp::kOverTcp),
                                          testing::Range(0, kShares)),
                         NameOf);

// What is about rdma_cm.
class RdmaCmStoryTest : public RdmaStoryTest {};

INSTANTIATE_TEST_SUITE_P(Share, RdmaCmStoryTest,
                         testing::Combine(testing::Values(RdmaSetUp::kRdmaCm),
                                          testing::Range(0, kShares)),
                         NameOf);

// Asked in every turn: one position is like the next.
bool Repeated(const std::string& call) {
  return call == "ibv_poll_cq" || call == "ibv_req_notify_cq" || call == "ibv_get_cq_event";
}

// By its name, its errno, or what it means.
bool IsReported(const StoryOutcome& outcome) {
  if (outcome.failed_call == "ibv_get_async_event") {
    return absl::StrContains(outcome.log, "RDMA device fake");
  }
  return absl::StrContains(outcome.log, outcome.failed_call) ||
         absl::StrContains(outcome.log, "Cannot allocate memory");
}

TEST_P(RdmaStoryTest, EachCallOfTheLibraryFailsOnce) {
  int repeated = 0;
  for (uint64_t number = 1; number <= whole_.calls.size() && !HasFailure(); ++number) {
    const std::string& call = whole_.calls[number - 1];
    if ((Repeated(call) && repeated++ % 64 != 0) || !Mine()) continue;
    SCOPED_TRACE(testing::Message() << "call " << number << ", " << call);
    StoryPlan plan = Plan();
    plan.before = [&](FakeFabric& fabric) { fabric.faults().FailCallNumber(number, ENOMEM); };
    const StoryOutcome outcome = Play(plan);
    const bool noticed = outcome.fallbacks > whole_.fallbacks;
    EXPECT_TRUE(IsReported(outcome) || !noticed) << "it is not reported:\n" << outcome.log;
  }
}

TEST_P(RdmaStoryTest, EachStatusOfACompletion) {
  for (int status = IBV_WC_SUCCESS + 1; status <= IBV_WC_TM_RNDV_INCOMPLETE; ++status) {
    for (const bool receives : {false, true}) {
      const int messages = static_cast<int>(receives ? whole_.receives : whole_.sends);
      for (int nth = 1 + status % 11; nth <= messages && !HasFailure(); nth += 11) {
        if (!Mine()) continue;
        SCOPED_TRACE(testing::Message() << "message " << nth << ", status " << status);
        StoryPlan plan = Plan();
        std::string name;
        plan.before = [&](FakeFabric& fabric) {
          const auto failed = static_cast<ibv_wc_status>(status);
          name = fabric.api().ibv.wc_status_str(failed);
          const char* const device = nth % 2 == 0 ? "fakeA" : "fakeB";
          if (receives) fabric.faults().FailReceive(device, nth, failed);
          if (!receives) fabric.faults().FailSend(device, nth, failed, 0x81, nth % 3 == 0);
        };
        const StoryOutcome outcome = Play(plan);
        EXPECT_TRUE(outcome.fallbacks <= whole_.fallbacks || absl::StrContains(outcome.log, name))
            << name << " is not reported:\n"
            << outcome.log;
      }
    }
  }
}

TEST_P(RdmaCmStoryTest, EachEventOfTheConnectionManager) {
  for (int type = RDMA_CM_EVENT_ADDR_RESOLVED; type <= RDMA_CM_EVENT_TIMEWAIT_EXIT; ++type) {
    if (type == RDMA_CM_EVENT_CONNECT_REQUEST || type == RDMA_CM_EVENT_DEVICE_REMOVAL) continue;
    for (int at = 1 + type; at <= whole_.turns && !HasFailure(); at += 61) {
      if (!Mine()) continue;
      SCOPED_TRACE(testing::Message() << "turn " << at << ", event " << type);
      StoryPlan plan = Plan();
      plan.on_turn = [&](FakeFabric& fabric, int turn) {
        if (turn != at) return;
        fabric.faults().InjectEvent(at % 2 == 0 ? "fakeA" : "fakeB",
                                    static_cast<rdma_cm_event_type>(type), -ETIMEDOUT);
      };
      Play(plan);
    }
  }
}

TEST_P(RdmaStoryTest, EachEventOfADevice) {
  for (int type = IBV_EVENT_CQ_ERR; type <= IBV_EVENT_GID_CHANGE; ++type) {
    // That is what the device says of each end; saying it early loses receives.
    if (type == IBV_EVENT_QP_LAST_WQE_REACHED) continue;
    for (int at = 1 + type; at <= whole_.turns && !HasFailure(); at += 61) {
      if (!Mine()) continue;
      SCOPED_TRACE(testing::Message() << "turn " << at << ", event " << type);
      StoryPlan plan = Plan();
      plan.on_turn = [&](FakeFabric& fabric, int turn) {
        if (turn != at) return;
        fabric.faults().RaiseEvent(at % 2 == 0 ? "fakeA" : "fakeB",
                                   static_cast<ibv_event_type>(type));
      };
      Play(plan);
    }
  }
}

TEST_P(RdmaStoryTest, ADeviceIsRemovedAndComesBack) {
  for (int at = 1; at <= whole_.turns && !HasFailure(); at += 29) {
    if (!Mine()) continue;
    SCOPED_TRACE(testing::Message() << "turn " << at);
    const char* const device = at % 2 == 0 ? "fakeA" : "fakeB";
    bool away = false;
    StoryPlan plan = Plan();
    plan.on_turn = [&](FakeFabric& fabric, int turn) {
      if (turn == at) {
        fabric.faults().RemoveDevice(device, /*flush=*/at % 3 == 0);
        away = true;
      } else if (away) {
        away = !fabric.faults().AddDevice(device);
      }
    };
    Play(plan);
    EXPECT_TRUE(!away || at > whole_.turns_to_stop / 2) << "it is held";
  }
}

TEST_P(RdmaStoryTest, CompletionsInAnyOrder) {
  for (uint64_t seed = 1; seed <= 96 && !HasFailure(); ++seed) {
    if (!Mine()) continue;
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    const StoryPlan plan = Plan([seed](FakeFabricOptions& fabric, RdmaRigOptions& rig) {
      (seed % 2 == 0 ? SmallRdma : SmallRdmaWithoutShared)(fabric, rig);
      fabric.seed = seed;
      fabric.shuffle_completions = true;
      rig.rdma.send_slots = rig.rdma.receive_slots = 4;
    });
    EXPECT_EQ(Play(plan).fallbacks, whole_.fallbacks);
  }
}

}  // namespace
}  // namespace farcall
