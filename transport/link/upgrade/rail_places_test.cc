// SPDX-License-Identifier: Apache-2.0

#include "transport/link/upgrade/rail_places.h"

#include <string>
#include <vector>

#include "absl/strings/str_join.h"
#include "gtest/gtest.h"

namespace farcall {
namespace {

// The devices that are offered of these, in order.
std::string Offered(const RailPlaces& places, const std::vector<std::string>& devices) {
  std::vector<UpgradeAddress> addresses(devices.size());
  for (size_t i = 0; i < devices.size(); ++i) addresses[i].device = devices[i];
  return absl::StrJoin(places.Offer(addresses), " ",
                       [](std::string* out, const auto& one) { *out += one.device; });
}

TEST(RailPlacesTest, TheFirstRailIsOfferedAll) {
  RailPlaces places;
  EXPECT_EQ(Offered(places, {"a", "b", "c"}), "a b c");
  places.OnUnused();
  EXPECT_EQ(Offered(places, {"a", "b", "c"}), "b c a") << "the other one is not tried first again";
  EXPECT_EQ(Offered(places, {}), "");
}

TEST(RailPlacesTest, AFurtherRailIsOfferedWhatHasTheFewest) {
  RailPlaces places;
  places.OnAdmitted(1, "a");
  EXPECT_EQ(Offered(places, {"a", "b", "c"}), "b c");
  places.OnAdmitted(2, "c");
  EXPECT_EQ(Offered(places, {"a", "b", "c"}), "b");
  places.OnAdmitted(3, "b");
  EXPECT_EQ(Offered(places, {"a", "b", "c"}), "a b c");
  places.OnAdmitted(4, "b");
  EXPECT_EQ(Offered(places, {"a", "b", "c"}), "a c");
  EXPECT_EQ(Offered(places, {"b"}), "b") << "the others are gone";
}

// Else both rails would be over "a" for good when the cable of "b" is back.
TEST(RailPlacesTest, WhereARailBrokeItComesBackHoweverLongThatTakes) {
  RailPlaces places;
  places.OnAdmitted(1, "a");
  places.OnAdmitted(2, "b");
  places.OnLost(2);
  for (int i = 0; i < 100; ++i) {
    EXPECT_EQ(Offered(places, {"a", "b"}), "b");
    places.OnUnused();
  }
  places.OnAdmitted(103, "b");
  EXPECT_EQ(Offered(places, {"a", "b"}), "a b");
}

TEST(RailPlacesTest, WhatTheClientNeverReachesDoesNotKeepItFromTheOthers) {
  RailPlaces places;
  places.OnAdmitted(1, "a");
  for (uint32_t i = 0; i < RailPlaces::kTries; ++i) {
    EXPECT_EQ(Offered(places, {"a", "b"}), "b");
    places.OnUnused();
  }
  EXPECT_EQ(Offered(places, {"a", "b"}), "b a");
  places.OnAdmitted(5, "a");
  EXPECT_EQ(Offered(places, {"a", "b"}), "b") << "and it is tried again";
}

}  // namespace
}  // namespace farcall
