// SPDX-License-Identifier: Apache-2.0

#include "transport/base/event_ring.h"

#include <string>
#include <thread>
#include <vector>

#include "gtest/gtest.h"

namespace farcall {
namespace {

using std::chrono::seconds;

std::vector<std::string> Texts(const EventRing& ring) {
  std::vector<std::string> texts;
  for (const PastEvent& event : ring.events()) texts.push_back(event.text);
  return texts;
}

TEST(EventRingTest, TellsOldestFirst) {
  EventRing ring;
  ring.Add("one");
  ring.Add("two");
  EXPECT_EQ(Texts(ring), (std::vector<std::string>{"one", "two"}));
  EXPECT_EQ(ring.forgotten(), 0u);
}

TEST(EventRingTest, KeepsTheLastAndCountsTheRest) {
  EventRing ring;
  for (size_t i = 0; i < EventRing::kMax + 3; ++i) ring.Add(std::to_string(i));
  const std::vector<std::string> texts = Texts(ring);
  ASSERT_EQ(texts.size(), EventRing::kMax);
  EXPECT_EQ(texts.front(), "3");
  EXPECT_EQ(texts.back(), std::to_string(EventRing::kMax + 2));
  EXPECT_EQ(ring.forgotten(), 3u);
}

TEST(EventRingTest, WhatIsSaidAgainCountsUp) {
  PastEvent::Time now{};
  EventRing ring([&] { return now += seconds(1); });
  for (int i = 0; i < 1000; ++i) {
    ring.Add("storm");
    ring.Add("hail");
  }
  const std::vector<PastEvent> events = ring.events();
  ASSERT_EQ(events.size(), 2u);
  EXPECT_EQ(events[0].text, "storm");
  EXPECT_EQ(events[0].times, 1000u);
  EXPECT_EQ(events[0].first, PastEvent::Time(seconds(1)));
  EXPECT_EQ(events[0].last, PastEvent::Time(seconds(1999)));
}

TEST(EventRingTest, WhatCameLongAgoComesAnew) {
  EventRing ring;
  ring.Add("again");
  for (size_t i = 0; i < EventRing::kLookBack; ++i) ring.Add(std::to_string(i));
  ring.Add("again");
  EXPECT_EQ(Texts(ring).front(), "again");
  EXPECT_EQ(Texts(ring).back(), "again");
}

TEST(EventRingTest, WhatAPeerSaysIsEscapedAndCut) {
  EventRing ring;
  ring.Add("a\nb\x1b[31m");
  EXPECT_EQ(Texts(ring)[0], "a\\nb\\x1b[31m");
  ring.Add(std::string(10'000, '\x01'));
  EXPECT_EQ(Texts(ring)[1].size(), EventRing::kMaxText);
}

TEST(EventRingTest, AnyThreadMayAdd) {
  EventRing ring;
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&ring, i] {
      for (int j = 0; j < 100; ++j) ring.Add(std::to_string(i));
    });
  }
  for (std::thread& thread : threads) thread.join();
  uint64_t times = ring.forgotten();
  for (const PastEvent& event : ring.events()) times += event.times;
  EXPECT_GE(times, 400u);
}

}  // namespace
}  // namespace farcall
