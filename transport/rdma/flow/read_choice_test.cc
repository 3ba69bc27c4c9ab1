// SPDX-License-Identifier: Apache-2.0

#include "transport/rdma/flow/read_choice.h"

#include <gtest/gtest.h>

#include <set>
#include <utility>
#include <vector>

#include "transport/rdma/flow/testing/read_choice_sim.h"
#include "transport/testing/seeds_here.h"

namespace farcall {
namespace {

constexpr uint32_t kPiece = 1 << 20;

// Pieces one after the other, of which two are always under way.
class Stream {
 public:
  ReadChoice choice{ReadsWhy::kMeasuring};
  Duration send_time = std::chrono::microseconds(100);
  Duration read_time = std::chrono::microseconds(100);

  void Post() {
    const auto way = choice.reads() ? ReadChoice::kRead : ReadChoice::kSend;
    ways_.push_back({way, way == ReadChoice::kRead || choice.measures()});
    if (ways_.back().second) choice.OnPosted(way, kPiece);
    choice.OnBytes(kPiece);
    choice.OnFlushed(true);
  }
  void Deliver() {
    const auto [way, reported] = ways_.front();
    ways_.erase(ways_.begin());
    now_ += way == ReadChoice::kRead ? read_time : send_time;
    if (reported) choice.OnDelivered(way, kPiece, now_);
  }
  // False: it has decided.
  bool Go() {
    while (ways_.size() < 2) Post();
    Deliver();
    return choice.measures();
  }
  int GoUntilDecided() {
    int pieces = 1;
    while (Go()) ++pieces;
    return pieces;
  }

 private:
  TimePoint now_ = TimePoint(std::chrono::hours(1));
  std::vector<std::pair<ReadChoice::Way, bool>> ways_;
};

TEST(ReadChoiceTest, WhatIsFixedMeasuresNothing) {
  for (const ReadsWhy why : {ReadsWhy::kNever, ReadsWhy::kAlways, ReadsWhy::kNoWindows,
                             ReadsWhy::kWindowsFail, ReadsWhy::kPeerDoesNot}) {
    ReadChoice choice(why);
    EXPECT_EQ(choice.reads(), why == ReadsWhy::kAlways);
    EXPECT_FALSE(choice.measures());
    choice.OnPosted(ReadChoice::kRead, kPiece);
    choice.OnDelivered(ReadChoice::kRead, kPiece, TimePoint());
    choice.OnBytes(uint64_t{1} << 40);
    EXPECT_FALSE(choice.measures());
    EXPECT_EQ(choice.use(), ReadsUse{.why = why});
  }
}

TEST(ReadChoiceTest, ItBeginsWithSendsAndDecidesAfterThreeRoundsThatAgree) {
  Stream stream;
  EXPECT_FALSE(stream.choice.reads());
  EXPECT_TRUE(stream.choice.measures());
  const int pieces = stream.GoUntilDecided();
  // Six samples of 4 MiB, and what is under way when one ends.
  EXPECT_GE(pieces, 6 * 4);
  EXPECT_LE(pieces, 6 * (4 + 3));
  EXPECT_EQ(stream.choice.use().why, ReadsWhy::kReadsPay);
  EXPECT_TRUE(stream.choice.reads());
  EXPECT_NEAR(static_cast<double>(stream.choice.use().send_rate), kPiece / 100e-6, 1e6);
  EXPECT_NEAR(static_cast<double>(stream.choice.use().read_rate), kPiece / 100e-6, 1e6);
}

TEST(ReadChoiceTest, SlowerReadsAreNotBegunWithAndSlightlySlowerOnesNotEnded) {
  Stream stream;
  stream.read_time = std::chrono::microseconds(115);
  stream.GoUntilDecided();
  EXPECT_EQ(stream.choice.use().why, ReadsWhy::kSendsAreFaster);
  EXPECT_FALSE(stream.choice.reads());

  Stream other;
  other.GoUntilDecided();
  other.read_time = std::chrono::microseconds(115);
  while (!other.Go()) {
  }
  other.GoUntilDecided();
  EXPECT_EQ(other.choice.use().why, ReadsWhy::kReadsPay);
  other.read_time = std::chrono::microseconds(130);
  while (!other.Go()) {
  }
  other.GoUntilDecided();
  EXPECT_EQ(other.choice.use().why, ReadsWhy::kSendsAreFaster);
}

TEST(ReadChoiceTest, ItRestsTwiceAsLongEachTimeThatItIsFoundAsItWas) {
  Stream stream;
  stream.GoUntilDecided();
  for (uint64_t rest = ReadChoice::kFirstRest; rest <= 4 * ReadChoice::kFirstRest; rest *= 2) {
    uint64_t bytes = kPiece;
    while (!stream.Go()) bytes += kPiece;
    EXPECT_NEAR(static_cast<double>(bytes), static_cast<double>(rest), 4.0 * kPiece);
    EXPECT_EQ(stream.choice.use().why, ReadsWhy::kReadsPay) << "as long as it measures, too";
    stream.GoUntilDecided();
  }
}

TEST(ReadChoiceTest, WhatIsDeliveredAfterAPauseCountsFromTheNextDelivery) {
  ReadChoice choice(ReadsWhy::kMeasuring);
  TimePoint now(std::chrono::hours(1));
  // One piece at a time, with nothing to send between: nothing is known.
  for (int i = 0; i < 100; ++i) {
    choice.OnPosted(ReadChoice::kSend, kPiece);
    choice.OnFlushed(false);
    choice.OnDelivered(ReadChoice::kSend, kPiece, now += std::chrono::microseconds(10));
  }
  EXPECT_EQ(choice.use().send_rate, 0u);
  // The same with bytes that wait, for credits say: each piece counts.
  for (int i = 0; i < 5; ++i) {
    choice.OnPosted(ReadChoice::kSend, kPiece);
    choice.OnFlushed(true);
    choice.OnDelivered(ReadChoice::kSend, kPiece, now += std::chrono::microseconds(10));
  }
  EXPECT_NEAR(static_cast<double>(choice.use().send_rate), kPiece / 10e-6, 1e8);
  EXPECT_EQ(choice.use().read_rate, 0u);
}

TEST(ReadChoiceTest, TwoRoundsThatAreDisturbedDoNotDecideAndThreeDo) {
  const struct {
    std::set<int> disturbed;
    ReadsWhy found;
    int rounds;
  } kCases[] = {{{0, 2}, ReadsWhy::kReadsPay, 5}, {{0, 2, 3}, ReadsWhy::kSendsAreFaster, 4}};
  for (const auto& [disturbed, found, rounds] : kCases) {
    Stream stream;
    int round = 0;
    bool second = false;
    do {
      const bool reads = stream.choice.reads();
      if (second && !reads) ++round;
      second = reads;
      stream.read_time = std::chrono::microseconds(disturbed.contains(round) ? 500 : 100);
    } while (stream.Go());
    EXPECT_EQ(Name(stream.choice.use().why), Name(found));
    EXPECT_EQ(round + 1, rounds);
  }
}

TEST(ReadChoiceSimTest, TheBetterWayIsFoundAndWhatThatCostsIsBounded) {
  for (uint64_t seed = 1; seed <= SeedsHere(20); ++seed) {
    ASSERT_EQ(RunReadChoiceSim(seed), "") << "seed " << seed;
  }
}

}  // namespace
}  // namespace farcall
