// SPDX-License-Identifier: Apache-2.0

#include "transport/why_not_rdma.h"

#include <cstdint>
#include <set>
#include <string>

#include "absl/strings/match.h"
#include "gtest/gtest.h"
#include "transport/base/errno_status.h"

namespace farcall {
namespace {

WhyNotRdma At(size_t i) { return static_cast<WhyNotRdma>(i); }

TEST(WhyNotRdmaTest, EachReasonHasANameAndATextOfItsOwn) {
  std::set<std::string> names;
  std::set<std::string> texts;
  for (size_t i = 0; i < kWhyNotRdmaCount; ++i) {
    names.insert(std::string(Name(At(i))));
    texts.insert(std::string(Explain(At(i))));
  }
  EXPECT_EQ(names.size(), kWhyNotRdmaCount);
  EXPECT_EQ(texts.size(), kWhyNotRdmaCount);
  EXPECT_EQ(names.count(""), 0u);
}

TEST(WhyNotRdmaTest, WhereThereIsNoAdapterTcpIsRightAndThatIsSaidFirst) {
  const std::string text(Explain(WhyNotRdma::kNoDevice));
  EXPECT_LT(text.find("TCP is right"), text.find("load its driver")) << text;
}

TEST(WhyNotRdmaTest, ANameIsFitForMetrics) {
  for (size_t i = 0; i < kWhyNotRdmaCount; ++i) {
    for (const char c : Name(At(i))) EXPECT_TRUE((c >= 'a' && c <= 'z') || c == '_') << Name(At(i));
  }
}

TEST(WhyNotRdmaTest, AnErrorCarriesItsReason) {
  for (size_t i = 1; i < kWhyNotRdmaCount; ++i) {
    const absl::Status error = NotRdma(At(i), "mlx5_0");
    EXPECT_FALSE(error.ok());
    EXPECT_TRUE(CarriesReason(error));
    EXPECT_EQ(ReasonOf(error), At(i));
    EXPECT_TRUE(absl::StrContains(error.message(), Explain(At(i))));
    EXPECT_TRUE(absl::StrContains(error.message(), "mlx5_0"));
  }
}

TEST(WhyNotRdmaTest, TheDetailIsTheSameHoweverTheErrorIsTold) {
  for (size_t i = 1; i < kWhyNotRdmaCount; ++i) {
    for (const char* const detail : {"", "mlx5_0", "mlx5_0 (port 1)", ": (", "a\nb"}) {
      const absl::Status error = NotRdma(At(i), detail);
      EXPECT_EQ(DetailOf(error), detail);
      const absl::Status status = Detached(Annotate(Annotate(error, "cannot connect"), "channel"));
      EXPECT_EQ(DetailOf(status), detail);
      EXPECT_EQ(ReasonOf(status), At(i));
    }
  }
  EXPECT_EQ(DetailOf(absl::UnavailableError("a cable")), "a cable");
}

TEST(WhyNotRdmaTest, WhatIsAddedStandsBeforeTheDetail) {
  const absl::Status error = NotRdma(WhyNotRdma::kCapacity, "16 receives");
  const absl::Status added = AddDetail(Annotate(error, "cannot connect"), "10.0.0.1:80");
  EXPECT_EQ(added, NotRdma(WhyNotRdma::kCapacity, "10.0.0.1:80: 16 receives"));
  EXPECT_EQ(AddDetail(NotRdma(WhyNotRdma::kTimedOut, ""), "10.0.0.1:80"),
            NotRdma(WhyNotRdma::kTimedOut, "10.0.0.1:80"));
}

TEST(WhyNotRdmaTest, TheTextStandsAloneWithoutDetail) {
  EXPECT_EQ(NotRdma(WhyNotRdma::kPeerOff, "").message(), Explain(WhyNotRdma::kPeerOff));
}

TEST(WhyNotRdmaTest, AnErrorWithoutReasonMeansThatItBroke) {
  EXPECT_FALSE(CarriesReason(absl::UnavailableError("a cable")));
  EXPECT_EQ(ReasonOf(absl::UnavailableError("a cable")), WhyNotRdma::kBroken);
}

}  // namespace
}  // namespace farcall
