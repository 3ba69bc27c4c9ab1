// SPDX-License-Identifier: Apache-2.0
//
// Everything that can happen in a few steps, in every order: frames that arrive, a
// generation that gets ready and breaks at either side, writes, a close. After the steps
// the rest takes its course, and everything must be delivered and end in order.

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "transport/base/sanitizer.h"
#include "transport/buffer/block_pool.h"
#include "transport/link/stream/testing/stream_side.h"
#include "transport/link/stream/testing/stream_wire.h"

namespace farcall {
namespace {

enum Step : uint8_t {
  kArriveTcpAtA,
  kArriveTcpAtB,
  kArriveG1AtA,
  kArriveG1AtB,
  kArriveG2AtA,
  kArriveG2AtB,
  kReadyA,
  kReadyB,
  kReady2A,
  kReady2B,
  kBrokenA,
  kBrokenB,
  kBroken2A,
  kBroken2B,
  kWriteA,
  kWriteB,
  kCloseA,
  kSteps,
};

class SmallWorld final : public StreamSide::Network {
 public:
  SmallWorld(BlockPool& pool, uint32_t rails, std::string* log)
      : rails_(rails), world_{TestRandom(1), pool, TimePoint(std::chrono::seconds(1)), log, {}} {
    StreamLimits limits;
    limits.rails = rails;
    limits.least_slice = 1;
    limits.send_window = limits.receive_window = 4;
    limits.max_data = 2;
    for (int side = 0; side < 2; ++side) {
      sides_[side] = std::make_unique<StreamSide>(side, limits, world_, *this);
    }
    for (auto& pair : wires_) {
      for (auto& wire : pair) {
        wire = std::make_unique<StreamWire>(world_.random, Duration(0), size_t{1} << 20);
      }
    }
    for (LinkId link = 0; link <= rails; ++link) {
      for (int side = 0; side < 2; ++side) {
        sides_[side]->Connect(link, *wires_[link][side], *wires_[link][1 - side]);
      }
    }
    for (LinkId link = 1; link <= rails; ++link) {
      sides_[0]->Start(/*ask=*/false);
      sides_[1]->Expect(link);
    }
  }

  bool Possible(Step step) const {
    switch (step) {
      case kArriveTcpAtA:
      case kArriveTcpAtB:
      case kArriveG1AtA:
      case kArriveG1AtB:
      case kArriveG2AtA:
      case kArriveG2AtB:
        return Wire(step).next().has_value();
      case kReadyA:
      case kReadyB:
      case kReady2A:
      case kReady2B:
        return Generation(step, kReadyA) <= rails_ && !ready_[step - kReadyA];
      case kBrokenA:
      case kBrokenB:
      case kBroken2A:
      case kBroken2B:
        return sides_[Side(step, kBrokenA)]->stream().Alive(Generation(step, kBrokenA));
      case kWriteA:
      case kWriteB:
        return sides_[step - kWriteA]->written() < 6;
      case kCloseA:
        return !sides_[0]->closed();
      case kSteps:
        return false;
    }
    return false;
  }

  void Do(Step step) {
    switch (step) {
      case kArriveTcpAtA:
      case kArriveTcpAtB:
      case kArriveG1AtA:
      case kArriveG1AtB:
      case kArriveG2AtA:
      case kArriveG2AtB:
        sides_[Side(step, kArriveTcpAtA)]->Arrive(Generation(step, kArriveTcpAtA) - 1);
        break;
      case kReadyA:
      case kReadyB:
      case kReady2A:
      case kReady2B:
        ready_[step - kReadyA] = true;
        sides_[Side(step, kReadyA)]->Ready(Generation(step, kReadyA));
        break;
      case kBrokenA:
      case kBrokenB:
      case kBroken2A:
      case kBroken2B:
        sides_[Side(step, kBrokenA)]->Broken(Generation(step, kBrokenA),
                                             absl::UnavailableError("cut"));
        break;
      case kWriteA:
      case kWriteB:
        sides_[step - kWriteA]->Write(2);
        break;
      case kCloseA:
        sides_[0]->Close();
        break;
      case kSteps:
        break;
    }
    for (auto& side : sides_) side->Flush();
  }

  // The rest takes its course. Returns what went wrong.
  std::string Finish() {
    for (const Step step : {kReadyA, kReadyB, kReady2A, kReady2B}) {
      if (Possible(step)) Do(step);
    }
    Until([this] { return Delivered(0) && (sides_[0]->closed() || Delivered(1)); });
    if (!sides_[0]->closed()) Do(kCloseA);
    Until([this] { return sides_[0]->end() && sides_[1]->end(); });
    if (!world_.failure.empty()) return world_.failure;
    if (!sides_[0]->end()->ok()) return absl::StrCat("A: ", sides_[0]->end()->ToString());
    if (sides_[1]->end()->message() != "closed by peer") {
      return absl::StrCat("B: ", sides_[1]->end()->ToString());
    }
    return Delivered(0) ? "" : "B does not have everything";
  }

 private:
  // Steps of one kind are those of A and B, by turns, for each generation.
  static int Side(Step step, Step first) { return (step - first) % 2; }
  static LinkId Generation(Step step, Step first) {
    return static_cast<LinkId>(1 + (step - first) / 2);
  }
  StreamWire& Wire(Step step) const {
    return *wires_[Generation(step, kArriveTcpAtA) - 1][1 - Side(step, kArriveTcpAtA)];
  }
  // That the peer of `side` has all that `side` wrote.
  bool Delivered(int side) const {
    return sides_[1 - side]->delivered() == sides_[side]->written();
  }

  void Until(const std::function<bool()>& done) {
    for (int round = 0; round < 2000 && world_.failure.empty(); ++round) {
      if (done()) return;
      bool arrived = false;
      for (const Step step :
           {kArriveTcpAtA, kArriveTcpAtB, kArriveG1AtA, kArriveG1AtB, kArriveG2AtA, kArriveG2AtB}) {
        if (!Possible(step)) continue;
        Do(step);
        arrived = true;
      }
      if (!arrived) PassTime();
    }
    if (world_.failure.empty()) world_.failure = "it does not come to an end";
  }

  void PassTime() {
    StreamSide* next = nullptr;
    for (auto& side : sides_) {
      if (side->timer() && (next == nullptr || *side->timer() < *next->timer())) next = side.get();
    }
    if (next == nullptr) {
      world_.failure = "nothing happens any more";
      return;
    }
    world_.now = std::max(world_.now, *next->timer());
    next->Timer();
    for (auto& side : sides_) side->Flush();
  }

  void Gone(int side, LinkId generation, bool) override { wires_[generation][side]->Cut(); }
  void Upgrade(int, LinkFrameType, uint32_t) override {}

  const uint32_t rails_;
  StreamSide::World world_;
  std::array<std::array<std::unique_ptr<StreamWire>, 2>, 3> wires_;  // [link][from]
  std::array<std::unique_ptr<StreamSide>, 2> sides_;
  bool ready_[4] = {};
};

class Explorer {
 public:
  Explorer(BlockPool& pool, uint32_t rails) : pool_(pool), rails_(rails) {}

  // Every way to go on from `steps` for `depth` more. False: one of them went wrong.
  bool Explore(std::vector<Step>& steps, int depth) {
    std::array<bool, kSteps> possible{};
    if (!Run(steps, &possible)) return false;
    if (depth == 0) return true;
    for (int step = 0; step < kSteps; ++step) {
      if (!possible[step]) continue;
      steps.push_back(static_cast<Step>(step));
      if (!Explore(steps, depth - 1)) return false;
      steps.pop_back();
    }
    return true;
  }
  uint64_t runs() const { return runs_; }

 private:
  bool Run(const std::vector<Step>& steps, std::array<bool, kSteps>* possible) {
    ++runs_;
    if (Outcome(steps, possible, nullptr).empty()) return true;
    std::string log;
    const std::string failure = Outcome(steps, possible, &log);
    ADD_FAILURE() << failure << "\n" << log;
    return false;
  }
  std::string Outcome(const std::vector<Step>& steps, std::array<bool, kSteps>* possible,
                      std::string* log) {
    SmallWorld world(pool_, rails_, log);
    for (const Step step : steps) world.Do(step);
    for (int step = 0; step < kSteps; ++step) {
      (*possible)[step] = world.Possible(static_cast<Step>(step));
    }
    return world.Finish();
  }

  BlockPool& pool_;
  const uint32_t rails_;
  uint64_t runs_ = 0;
};

constexpr int DepthHere(int depth) { return kSanitized ? depth - 1 : depth; }

void ExpectAllGood(std::vector<Step> begin, int depth, uint32_t rails = 1) {
  const auto pool = BlockPool::Create({});
  ASSERT_TRUE(pool.ok());
  Explorer explorer(**pool, rails);
  EXPECT_TRUE(explorer.Explore(begin, DepthHere(depth)));
  EXPECT_EQ((*pool)->stats().used_bytes, 0u);
  ::testing::Test::RecordProperty("runs", static_cast<int>(explorer.runs()));
}

TEST(SwitchingStreamExhaustiveTest, FromTheBeginning) { ExpectAllGood({}, 5); }

TEST(SwitchingStreamExhaustiveTest, WithBytesOnBothLinks) {
  ExpectAllGood({kWriteA, kReadyA, kWriteA, kReadyB}, 5);
}

TEST(SwitchingStreamExhaustiveTest, WithBothDirectionsOnTheGeneration) {
  ExpectAllGood({kReadyA, kReadyB, kWriteA, kWriteB, kArriveG1AtB, kWriteA}, 5);
}

TEST(SwitchingStreamExhaustiveTest, WhenOneSideHasGivenItUp) {
  ExpectAllGood({kReadyA, kReadyB, kWriteA, kWriteB, kBrokenB, kWriteA}, 5);
}

TEST(SwitchingStreamExhaustiveTest, WhenOneSideCloses) {
  ExpectAllGood({kReadyA, kReadyB, kWriteB, kWriteA, kCloseA}, 5);
}

TEST(SwitchingStreamExhaustiveTest, OfTwoRailsFromTheBeginning) {
  ExpectAllGood({kReadyA, kReady2A}, 4, 2);
}

TEST(SwitchingStreamExhaustiveTest, OfTwoRailsWithBytesOnBoth) {
  ExpectAllGood({kReadyA, kReady2A, kReadyB, kReady2B, kWriteA, kWriteA, kWriteB}, 4, 2);
}

TEST(SwitchingStreamExhaustiveTest, OfTwoRailsWhenOneSideHasGivenOneUp) {
  ExpectAllGood({kReadyA, kReady2A, kReadyB, kReady2B, kWriteA, kWriteB, kBroken2B, kWriteA}, 4, 2);
}

}  // namespace
}  // namespace farcall
