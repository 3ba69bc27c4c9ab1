// SPDX-License-Identifier: Apache-2.0

#include "benchmarks/common/load_recorder.h"

#include <chrono>

#include "gtest/gtest.h"

namespace farcall::bench {
namespace {

using std::chrono::milliseconds;
using Time = LoadWindow::Time;

const Time kStart = Time() + std::chrono::hours(1);

LoadWindow Window() {
  LoadOptions options;
  options.warmup = 0.1;
  options.seconds = 1;
  return LoadWindow::From(kStart, options);
}

TEST(LoadWindowTest, MeasuringFollowsTheWarmup) {
  const LoadWindow window = Window();
  EXPECT_EQ(window.start, kStart);
  EXPECT_EQ(window.begin, kStart + milliseconds(100));
  EXPECT_EQ(window.end, kStart + milliseconds(1100));
}

TEST(LoadWindowTest, TheBeginIsInsideAndTheEndIsNot) {
  const LoadWindow window = Window();
  EXPECT_FALSE(window.Measures(window.begin - std::chrono::nanoseconds(1)));
  EXPECT_TRUE(window.Measures(window.begin));
  EXPECT_FALSE(window.Over(window.begin));
  EXPECT_FALSE(window.Measures(window.end));
  EXPECT_TRUE(window.Over(window.end));
}

TEST(LoadRecorderTest, ACallCountsByItsEnd) {
  LoadRecorder recorder(Window());
  recorder.Succeeded(kStart, kStart + milliseconds(99));
  EXPECT_EQ(recorder.latency().count(), 0U);
  recorder.Succeeded(kStart + milliseconds(99), kStart + milliseconds(101));
  EXPECT_EQ(recorder.latency().count(), 1U);
  EXPECT_EQ(recorder.latency().max(), milliseconds(2));
  recorder.Succeeded(kStart + milliseconds(1000), kStart + milliseconds(1100));
  EXPECT_EQ(recorder.latency().count(), 1U);
}

TEST(LoadRecorderTest, AllErrorsCountAndTheFirstIsKept) {
  LoadRecorder recorder(Window());
  EXPECT_EQ(recorder.errors(), 0U);
  recorder.Failed("refused");
  recorder.Failed("reset");
  EXPECT_EQ(recorder.errors(), 2U);
  EXPECT_EQ(recorder.first_error(), "refused");
  EXPECT_EQ(recorder.latency().count(), 0U);
}

TEST(LoadRecorderTest, MergeAddsUpAndKeepsTheFirstError) {
  LoadRecorder one(Window());
  LoadRecorder two(Window());
  one.Succeeded(kStart, kStart + milliseconds(200));
  two.Succeeded(kStart, kStart + milliseconds(300));
  two.Failed("reset");
  one.Merge(two);
  EXPECT_EQ(one.latency().count(), 2U);
  EXPECT_EQ(one.errors(), 1U);
  EXPECT_EQ(one.first_error(), "reset");

  LoadRecorder three(Window());
  three.Failed("later");
  one.Merge(three);
  EXPECT_EQ(one.errors(), 2U);
  EXPECT_EQ(one.first_error(), "reset");
}

}  // namespace
}  // namespace farcall::bench
