// SPDX-License-Identifier: Apache-2.0

#include "transport/rdma/setup/offer.h"

#include <algorithm>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"

namespace farcall {
namespace {

class OfferOrderTest : public testing::Test {
 protected:
  // `number`: of the device's places.
  void Add(int device, int number, double share, bool over_tcp = false) {
    OfferedPlace one;
    one.place.device = absl::StrCat(over_tcp ? "port" : "", device, ".", number);
    if (over_tcp) one.place.port.emplace();
    one.port = {&contexts_[static_cast<size_t>(device)], 1};
    one.share = share;
    offer_.push_back(one);
  }
  std::vector<std::string> Ordered() {
    PutInOrder(offer_);
    std::vector<std::string> names;
    for (const OfferedPlace& one : offer_) names.push_back(one.place.device);
    return names;
  }

  std::vector<ibv_context> contexts_ = std::vector<ibv_context>(20);
  std::vector<OfferedPlace> offer_;
};

TEST_F(OfferOrderTest, OneOfEachPortAndTheLeastLoadedFirst) {
  for (const int device : {0, 1, 2}) {
    Add(device, 1, device == 1 ? 2 : 1);
    Add(device, 2, device == 1 ? 2 : 1);
    Add(device, 1, 1, /*over_tcp=*/true);
  }
  EXPECT_EQ(Ordered(), (std::vector<std::string>{"1.1", "0.1", "2.1", "1.2", "0.2", "2.2",
                                                 "port0.1", "port1.1", "port2.1"}));
}

// A host of eight adapters, each with addresses of IPv4 and IPv6.
TEST_F(OfferOrderTest, NeitherKindCrowdsOutTheOther) {
  for (int device = 0; device < 8; ++device) {
    Add(device, 1, 1);
    Add(device, 2, 1);
    Add(device, 1, 1, /*over_tcp=*/true);
  }
  const std::vector<std::string> names = Ordered();
  ASSERT_EQ(names.size(), kMaxOffered);
  EXPECT_EQ(names[7], "7.1");
  EXPECT_EQ(names[8], "port0.1");
  EXPECT_EQ(names[15], "port7.1");
}

TEST_F(OfferOrderTest, OfOneKindAllPlacesAreTaken) {
  for (int device = 0; device < 20; ++device) Add(device, 1, 1, /*over_tcp=*/true);
  EXPECT_EQ(Ordered().size(), kMaxOffered);
  offer_.clear();
  for (int device = 0; device < 20; ++device) Add(device, 1, 1);
  EXPECT_EQ(Ordered().size(), kMaxOffered);
}

}  // namespace
}  // namespace farcall
