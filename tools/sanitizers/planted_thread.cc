// SPDX-License-Identifier: Apache-2.0

#include <thread>

#include "gtest/gtest.h"

namespace {

TEST(Planted, MakesNone) {}

TEST(Planted, MakesOneThatEnds) {
  std::thread([] {}).join();
}

TEST(Planted, MakesNoMore) {}

}  // namespace
