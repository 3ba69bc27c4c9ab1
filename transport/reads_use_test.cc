// SPDX-License-Identifier: Apache-2.0

#include "transport/reads_use.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

namespace farcall {
namespace {

TEST(ReadsUseTest, WhatADeviceLacksCountsBeforeWhatIsAsked) {
  EXPECT_EQ(ReadsOfDevice(kReadNever, true, false), ReadsWhy::kNever);
  EXPECT_EQ(ReadsOfDevice(kReadNever, false, true), ReadsWhy::kNever);
  for (const uint32_t asked : {kReadAuto, uint32_t{4096}, kReadAutoFrom}) {
    EXPECT_EQ(ReadsOfDevice(asked, false, false), ReadsWhy::kNoWindows);
    EXPECT_EQ(ReadsOfDevice(asked, false, true), ReadsWhy::kNoWindows);
    EXPECT_EQ(ReadsOfDevice(asked, true, true), ReadsWhy::kWindowsFail);
  }
  EXPECT_EQ(ReadsOfDevice(kReadAuto, true, false), ReadsWhy::kMeasuring);
  EXPECT_EQ(ReadsOfDevice(4096, true, false), ReadsWhy::kAlways);
}

TEST(ReadsUseTest, EachReasonHasANameAndSaysWhetherItIsRead) {
  std::set<std::string> names;
  for (int i = 0; i <= static_cast<int>(ReadsWhy::kReadsPay); ++i) {
    const auto why = static_cast<ReadsWhy>(i);
    names.insert(std::string(Name(why)));
    const std::string text = Explain({.why = why});
    const bool reads = why == ReadsWhy::kAlways || why == ReadsWhy::kReadsPay;
    EXPECT_EQ(text.rfind("yes: ", 0) == 0, reads) << text;
    EXPECT_EQ(text.rfind("no", 0) == 0, !reads) << text;
  }
  EXPECT_EQ(names.size(), 9u);
}

TEST(ReadsUseTest, WhatWasMeasuredIsTold) {
  EXPECT_EQ(Explain({ReadsWhy::kSendsAreFaster, 19'020'000'000, 2'700'000'000}),
            "no: sends are faster; sends carried 19 GB/s, RDMA READ 2.7 GB/s");
  EXPECT_EQ(Explain({ReadsWhy::kReadsPay, 951'000'000, 1'234'000'000}),
            "yes: RDMA READ is not slower; sends carried 951 MB/s, RDMA READ 1.2 GB/s");
  EXPECT_EQ(Explain({ReadsWhy::kMeasuring, 951'000'000, 0}),
            "not yet: both ways are measured while bytes wait to be sent");
}

}  // namespace
}  // namespace farcall
