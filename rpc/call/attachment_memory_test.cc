// SPDX-License-Identifier: Apache-2.0

#include "rpc/call/attachment_memory.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

namespace farcall {
namespace {

// Memory of ten bytes, in slices of three.
class AttachmentMemoryTest : public testing::Test {
 protected:
  Buffer Slices() {
    Buffer memory;
    for (size_t at = 0; at < bytes_.size(); at += 3) {
      memory.AppendUserData(&bytes_[at], std::min<size_t>(3, bytes_.size() - at), nullptr);
    }
    return memory;
  }

  std::string bytes_ = "..........";
  const AttachmentMemory memory_{Slices()};
  uint64_t copied_ = 0;
};

TEST(AttachmentMemoryUnsetTest, IsEmpty) {
  const AttachmentMemory memory;
  EXPECT_TRUE(memory.empty());
  EXPECT_TRUE(memory.Part(0, 1).empty());
}

TEST_F(AttachmentMemoryTest, WhatComesInAnyPiecesIsCopiedToItsPlace) {
  for (size_t cut = 0; cut <= 8; ++cut) {
    bytes_.assign(10, '.');
    copied_ = 0;
    const std::string sent = "abcdefgh";
    Buffer came(absl::string_view(sent).substr(0, cut));
    came.Append(absl::string_view(sent).substr(cut));
    EXPECT_EQ(memory_.Gather(came, copied_).ToString(), sent);
    EXPECT_EQ(bytes_, "abcdefgh..");
    EXPECT_EQ(copied_, 8u);
  }
}

TEST_F(AttachmentMemoryTest, CountsWhatLiesAtItsPlace) {
  for (size_t begin = 0; begin <= 10; ++begin) {
    Buffer came(std::string(5 + begin, 'x'));
    came.Append(memory_.Part(begin, 10 - begin));
    EXPECT_EQ(memory_.Lying(came, 5), 10 - begin);
    EXPECT_EQ(memory_.Lying(Buffer(std::string(5 + begin, 'x')), 5), 0u);
  }
}

TEST_F(AttachmentMemoryTest, WhatLiesElsewhereInTheMemoryDoesNotLieAtItsPlace) {
  Buffer came;
  came.Append(memory_.Part(1, 9));
  EXPECT_EQ(memory_.Lying(came, 0), 0u);
}

}  // namespace
}  // namespace farcall
