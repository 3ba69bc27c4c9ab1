// SPDX-License-Identifier: Apache-2.0
//
// The conformance suite is worth what it catches: each planted fault must fail the
// check that is about it.

#include <algorithm>
#include <memory>
#include <regex>
#include <string>

#include "gtest/gtest.h"
#include "transport/base/check.h"
#include "transport/testing/conformance/conformance_checks.h"
#include "transport/testing/conformance/faulty_transport.h"
#include "transport/testing/sim/sim_harness.h"

namespace farcall {
namespace {

// A SimHarness whose transport has a fault.
class FaultyHarness final : public ConformanceHarness {
 public:
  FaultyHarness(uint64_t seed, PlantedFault fault)
      : sim_(seed), transport_(sim_.transport(), fault) {}

  Transport& transport() override { return transport_; }
  LoopGroup& loops() override { return sim_.loops(); }
  BlockPool& pool() override { return sim_.pool(); }
  Address FreeAddress() override { return sim_.FreeAddress(); }
  Address RefusingAddress() override { return sim_.RefusingAddress(); }
  Address SilentAddress() override { return sim_.SilentAddress(); }
  void Run(EventLoop& loop, absl::FunctionRef<void()> work) override { sim_.Run(loop, work); }
  bool Until(absl::FunctionRef<bool()> done) override { return sim_.Until(done); }
  void Settle() override { sim_.Settle(); }
  uint64_t seed() const override { return sim_.seed(); }
  size_t LargestMessage() const override { return sim_.LargestMessage(); }
  size_t MoreThanFits() const override { return sim_.MoreThanFits(); }

 private:
  SimHarness sim_;
  FaultyTransport transport_;
};

struct Mutant {
  PlantedFault fault;
  std::string check;  // that notices
};

void PrintTo(const Mutant& mutant, std::ostream* out) { *out << mutant.check; }

std::string MutantName(const testing::TestParamInfo<Mutant>& info) {
  return std::to_string(info.index) + info.param.check;
}

class ConformanceCatches : public testing::TestWithParam<Mutant> {};

absl::Status RunWith(const std::string& name, PlantedFault fault) {
  const auto checks = ConformanceChecks();
  const auto check = std::find_if(checks.begin(), checks.end(),
                                  [&](const ConformanceCheck& one) { return one.name == name; });
  Check(check != checks.end(), "a mutant names a check");
  FaultyHarness harness(1, fault);
  return RunCheck(*check, harness);
}

TEST_P(ConformanceCatches, WhatIsPlanted) {
  EXPECT_FALSE(RunWith(GetParam().check, GetParam().fault).ok());
  const absl::Status holds = RunWith(GetParam().check, PlantedFault::kNone);
  EXPECT_TRUE(holds.ok()) << holds.message();
}

TEST(ConformanceTest, AViolationTellsHowFarBothEndsCame) {
  const std::string text(
      RunWith("BytesArriveInOrderBothWays", PlantedFault::kDropsAByte).message());
  EXPECT_TRUE(std::regex_search(text, std::regex("client: sent [0-9]+ bytes, received [0-9]+")))
      << text;
}

INSTANTIATE_TEST_SUITE_P(
    Mutants, ConformanceCatches,
    testing::Values(Mutant{PlantedFault::kDropsAByte, "BytesArriveInOrderBothWays"},
                    Mutant{PlantedFault::kSwapsReads, "BytesArriveInOrderBothWays"},
                    Mutant{PlantedFault::kClosesTwice, "FlushDeliversAll"},
                    Mutant{PlantedFault::kNeverDrains, "BacklogOfAPausedReaderDrainsOnce"},
                    Mutant{PlantedFault::kCountsItsFrames, "BytesArriveInOrderBothWays"},
                    Mutant{PlantedFault::kCountsWhatLeft, "BacklogIsTheWritersBytes"},
                    Mutant{PlantedFault::kReadsAfterClose, "FlushDeliversAll"},
                    Mutant{PlantedFault::kReadsWhilePaused, "PauseStopsTheWriter"},
                    Mutant{PlantedFault::kCallsBackAtOnce, "FlushDeliversAll"},
                    Mutant{PlantedFault::kForgetsTheFlush, "FlushDeliversAll"},
                    Mutant{PlantedFault::kKeepsABlock, "OneMessageAtATime"},
                    Mutant{PlantedFault::kLandsElsewhere, "BytesMayLandInTheHandlersMemory"},
                    Mutant{PlantedFault::kWritesLate, "MemoryIsTheHandlersAgainOnceItIsDropped"},
                    Mutant{PlantedFault::kConnectsInside, "ConnectIsRefused"},
                    Mutant{PlantedFault::kAcceptsAfterClose, "ClosedListenerRefuses"}),
    MutantName);

}  // namespace
}  // namespace farcall
