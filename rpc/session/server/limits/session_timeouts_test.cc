// SPDX-License-Identifier: Apache-2.0

#include "rpc/session/server/limits/session_timeouts.h"

#include <gtest/gtest.h>

#include "transport/testing/test_random.h"

namespace farcall {
namespace {

using Verdict = SessionTimeouts::Verdict;
using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr TimePoint kStart{seconds(100)};
constexpr SessionTimeouts::Limits kLimits{.idle = seconds(60), .read = seconds(10)};

TimePoint After(int64_t s) { return kStart + seconds(s); }

TEST(SessionTimeoutsTest, WhoSendsNothingIsGivenUp) {
  SessionTimeouts timeouts(kLimits, kStart);
  EXPECT_EQ(timeouts.first_look(), After(10));
  EXPECT_EQ(timeouts.At(After(9), {}).verdict, Verdict::kWait);
  EXPECT_EQ(timeouts.At(After(9), {}).again, After(10));
  EXPECT_EQ(timeouts.At(After(10), {}).verdict, Verdict::kSilent);
}

TEST(SessionTimeoutsTest, ARequestThatIsBegunMustBecomeWhole) {
  SessionTimeouts timeouts(kLimits, kStart);
  timeouts.OnRead(false, true, After(5));
  // More bytes of the same request make it no younger.
  for (int i = 6; i < 15; ++i) {
    timeouts.OnRead(false, true, After(i));
    EXPECT_EQ(timeouts.At(After(i), {}).verdict, Verdict::kWait);
  }
  EXPECT_EQ(timeouts.At(After(14), {}).again, After(15));
  EXPECT_EQ(timeouts.At(After(15), {}).verdict, Verdict::kUnfinished);
}

TEST(SessionTimeoutsTest, TheNextRequestHasItsOwnTime) {
  SessionTimeouts timeouts(kLimits, kStart);
  timeouts.OnRead(false, true, After(1));
  timeouts.OnRead(true, true, After(9));
  EXPECT_EQ(timeouts.At(After(18), {}).verdict, Verdict::kWait);
  EXPECT_EQ(timeouts.At(After(19), {}).verdict, Verdict::kUnfinished);
  timeouts.OnRead(true, false, After(19));
  EXPECT_EQ(timeouts.At(After(40), {}).verdict, Verdict::kWait);
}

TEST(SessionTimeoutsTest, WhileWeDoNotReadNothingIsUnfinished) {
  SessionTimeouts timeouts(kLimits, kStart);
  timeouts.OnRead(true, true, After(1));
  timeouts.OnPause();
  EXPECT_EQ(timeouts.At(After(50), {.under_way = true}).verdict, Verdict::kWait);
  timeouts.OnRead(false, true, After(50));
  EXPECT_EQ(timeouts.At(After(59), {.under_way = true}).verdict, Verdict::kWait);
  EXPECT_EQ(timeouts.At(After(60), {.under_way = true}).verdict, Verdict::kUnfinished);
}

TEST(SessionTimeoutsTest, NothingUnderWayIsIdle) {
  SessionTimeouts timeouts(kLimits, kStart);
  timeouts.OnRead(true, false, After(1));
  EXPECT_EQ(timeouts.At(After(60), {}).verdict, Verdict::kWait);
  EXPECT_EQ(timeouts.At(After(61), {.under_way = true}).verdict, Verdict::kWait);
  timeouts.OnAnswer(After(100));
  EXPECT_EQ(timeouts.At(After(159), {}).verdict, Verdict::kWait);
  EXPECT_EQ(timeouts.At(After(160), {}).verdict, Verdict::kIdle);
}

TEST(SessionTimeoutsTest, WhoTakesNothingOfItsAnswersIsGivenUp) {
  SessionTimeouts timeouts(kLimits, kStart);
  timeouts.OnRead(true, false, After(1));
  const auto at = [&](int64_t s, size_t held_up, uint64_t sent) {
    return timeouts.At(After(s), {.under_way = true, .held_up = held_up, .sent = sent});
  };
  EXPECT_EQ(at(10, 1000, 50).again, After(20));
  EXPECT_EQ(at(19, 1000, 50).verdict, Verdict::kWait);
  EXPECT_EQ(at(20, 1000, 50).verdict, Verdict::kNotReading);
  EXPECT_EQ(at(20, 500, 1050).again, After(30)) << "it took what was there, and more has come";
  EXPECT_EQ(at(30, 0, 1550).verdict, Verdict::kWait) << "nothing waits";
  EXPECT_EQ(at(31, 5000, 1550).again, After(41));
  EXPECT_EQ(at(41, 5000, 1550).verdict, Verdict::kNotReading);
}

// One byte in each limit was enough to hold megabytes for ever.
TEST(SessionTimeoutsTest, WhoTakesHardlyAnythingIsGivenUp) {
  constexpr size_t kHeld = size_t{5} << 20;
  constexpr uint64_t kEnough = 10 * SessionTimeouts::kMinRate;
  for (const uint64_t each : {uint64_t{1}, kEnough - 1, kEnough}) {
    SCOPED_TRACE(each);
    SessionTimeouts timeouts(kLimits, kStart);
    timeouts.OnRead(true, false, After(1));
    uint64_t sent = 0;
    Verdict verdict = Verdict::kWait;
    for (int s = 10; s < 100 && verdict == Verdict::kWait; s += 10) {
      verdict = timeouts.At(After(s), {.under_way = true, .held_up = kHeld, .sent = sent}).verdict;
      sent += each;
    }
    EXPECT_EQ(verdict, each < kEnough ? Verdict::kTooSlow : Verdict::kWait);
  }
}

// A peer cannot take more than there is.
TEST(SessionTimeoutsTest, WhoTakesTheLittleThatWaitsIsNotGivenUp) {
  SessionTimeouts timeouts(kLimits, kStart);
  timeouts.OnRead(true, false, After(1));
  for (int s = 10; s < 1000; ++s) {
    const auto sent = static_cast<uint64_t>(s);
    EXPECT_EQ(timeouts.At(After(s), {.under_way = true, .held_up = 10, .sent = sent}).verdict,
              Verdict::kWait);
  }
}

// Between two looks megabytes may leave while as many are added: the level says nothing.
TEST(SessionTimeoutsTest, WhoReadsAsFastAsAnswersComeIsNotGivenUp) {
  SessionTimeouts timeouts(kLimits, kStart);
  timeouts.OnRead(true, false, After(1));
  for (int s = 1; s < 100; ++s) {
    const size_t level = 4'000'000 + static_cast<size_t>(s) * 1000;
    const auto sent = static_cast<uint64_t>(s) * 100'000'000;
    EXPECT_EQ(timeouts.At(After(s), {.under_way = true, .held_up = level, .sent = sent}).verdict,
              Verdict::kWait);
  }
}

TEST(SessionTimeoutsTest, EachLimitMayBeNone) {
  SessionTimeouts none({}, kStart);
  EXPECT_EQ(none.first_look(), TimePoint::max());
  EXPECT_EQ(none.At(After(1'000'000'000), {.held_up = 7}).verdict, Verdict::kWait);
  EXPECT_EQ(none.At(After(5), {}).again, TimePoint::max());

  SessionTimeouts no_idle({.idle = Duration::max(), .read = seconds(10)}, kStart);
  no_idle.OnRead(true, false, After(1));
  EXPECT_EQ(no_idle.At(After(1'000'000), {}).verdict, Verdict::kWait);
  EXPECT_EQ(no_idle.At(After(5), {}).again, After(15)) << "a request may begin any time";

  SessionTimeouts no_read({.idle = seconds(60), .read = Duration::max()}, kStart);
  no_read.OnRead(false, true, After(1));
  EXPECT_EQ(no_read.At(After(60), {.held_up = 7}).verdict, Verdict::kWait);
  EXPECT_EQ(no_read.At(After(61), {.held_up = 7}).verdict, Verdict::kIdle);
}

// Looking when the last look said, nothing is given up early, or later than it is due.
TEST(SessionTimeoutsTest, LooksAreFewAndInTime) {
  for (uint64_t seed = 1; seed <= 200; ++seed) {
    SCOPED_TRACE(seed);
    TestRandom random(seed);
    SessionTimeouts timeouts(kLimits, kStart);
    TimePoint look = timeouts.first_look();
    TimePoint begun = TimePoint::max();
    TimePoint active = kStart;
    bool heard = false;
    int looks = 0;
    for (TimePoint now = kStart; now < After(300); now += milliseconds(100)) {
      if (now >= look) {
        ++looks;
        const SessionTimeouts::Look seen = timeouts.At(now, {});
        const bool over = (!heard && now - kStart >= kLimits.read) ||
                          (begun != TimePoint::max() && now - begun >= kLimits.read) ||
                          now - active >= kLimits.idle;
        EXPECT_EQ(seen.verdict != Verdict::kWait, over);
        if (over) break;
        look = seen.again;
        EXPECT_GT(look, now);
      }
      const TimePoint due = begun == TimePoint::max() ? TimePoint::max() : begun + kLimits.read;
      EXPECT_LE(look, due);
      if (!random.Chance(0.01)) continue;
      const bool whole = random.Chance(0.5);
      const bool rest = random.Chance(0.5);
      timeouts.OnRead(whole, rest, now);
      heard = true;
      active = now;
      begun = !rest ? TimePoint::max() : (whole || begun == TimePoint::max()) ? now : begun;
    }
    EXPECT_LE(looks, 62);
  }
}

}  // namespace
}  // namespace farcall
