// SPDX-License-Identifier: Apache-2.0

#include "rpc/session/client/waiting_frames.h"

#include <gtest/gtest.h>

#include <vector>

namespace farcall {
namespace {

TEST(WaitingFramesTest, LeaveInTheOrderOfTheirCalls) {
  WaitingFrames frames;
  for (const uint64_t id : {3, 1, 2}) frames.Add(id, Buffer("frame"));
  EXPECT_EQ(frames.bytes(), 15u);
  std::vector<uint64_t> ids;
  for (const auto& [id, frame] : frames.TakeAll()) {
    ids.push_back(id);
    EXPECT_EQ(frame.ToString(), "frame");
  }
  EXPECT_EQ(ids, (std::vector<uint64_t>{1, 2, 3}));
  EXPECT_TRUE(frames.empty());
  EXPECT_EQ(frames.bytes(), 0u);
}

TEST(WaitingFramesTest, WhatIsDroppedTakesItsBytesWithIt) {
  WaitingFrames frames;
  frames.Add(1, Buffer("short"));
  frames.Add(2, Buffer("much longer"));
  frames.Drop(2);
  frames.Drop(2);
  frames.Drop(7);
  EXPECT_EQ(frames.bytes(), 5u);
  frames.Drop(1);
  EXPECT_TRUE(frames.empty());
  EXPECT_EQ(frames.bytes(), 0u);
}

}  // namespace
}  // namespace farcall
