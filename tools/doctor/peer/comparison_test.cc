// SPDX-License-Identifier: Apache-2.0

#include "tools/doctor/peer/comparison.h"

#include <gtest/gtest.h>

#include <string>

#include "tools/doctor/checks/facts.h"

namespace farcall::doctor {
namespace {

Comparison Compared(double raw_us, double rdma_us, double tcp_us) {
  Comparison comparison;
  comparison.reason = "in_use";
  comparison.rows = {{"raw verbs", "d", "", raw_us, raw_us, 100e6},
                     {"farcall over rdma", "d", "", rdma_us, rdma_us, 90e6},
                     {"farcall over tcp", "sockets", "", tcp_us, tcp_us, 200e6}};
  return comparison;
}

TEST(ComparisonTest, WhatItMeans) {
  const Findings good = CheckComparison(Compared(5, 10, 50));
  ASSERT_EQ(good.size(), 2u);
  EXPECT_NE(good[1].finding.find("90 % of the bandwidth"), std::string::npos) << good[1].finding;
  EXPECT_EQ(CheckComparison(Compared(5, 60, 50)).back().verdict, Verdict::kDegraded);

  Comparison off = Compared(5, 10, 50);
  off.reason = "timed_out";
  off.rows[1].trouble = "timed_out";
  const Findings findings = CheckComparison(off);
  EXPECT_EQ(findings[0].verdict, Verdict::kDegraded);
  EXPECT_NE(findings[1].finding.find("raw verbs reach it"), std::string::npos);

  off.reason = LibraryVerdict::kNotTold;
  off.detail = "host2 is not there any more";
  EXPECT_EQ(CheckComparison(off)[0].finding, off.detail);
  EXPECT_EQ(CheckComparison(off)[0].cure.find("why-is-rdma-off"), std::string::npos);

  Comparison no_raw = Compared(5, 10, 50);
  no_raw.rows[0].trouble = "no address";
  EXPECT_EQ(CheckComparison(no_raw)[1].verdict, Verdict::kUnknown);
}

TEST(ComparisonTest, AnotherVersionIsNoFirewall) {
  const Finding finding =
      PeerNotReached("host2", absl::FailedPreconditionError("runs a doctor of version 2"));
  EXPECT_EQ(finding.cure, "the same version of doctor on both hosts");
}

}  // namespace
}  // namespace farcall::doctor
