// SPDX-License-Identifier: Apache-2.0
//
// Valid frames with damaged bytes, in pieces whose ends AddressSanitizer watches. Whatever
// the bytes are: the input loses nothing or a whole frame, and pieces do not matter.

#include <memory>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "transport/buffer/block_pool.h"
#include "transport/link/stream/frames/frame.h"
#include "transport/link/stream/frames/frame_testing.h"
#include "transport/testing/test_random.h"

namespace farcall {
namespace {

class LinkFrameMutationTest : public ::testing::Test {
 protected:
  std::string ValidBytes() {
    LinkFrameWriter writer(*pool_);
    std::string bytes;
    const auto add = [&](LinkFrame frame) { bytes += writer.Encode(std::move(frame)).ToString(); };
    add({.type = LinkFrameType::kPing, .acknowledged = 3, .number = 1});
    add({.type = LinkFrameType::kData, .offset = 17, .payload = Buffer("bytes of a stream")});
    add({.type = LinkFrameType::kResume, .offset = 34, .acknowledged = 3, .number = 2});
    add({.type = LinkFrameType::kUpgradeOffer, .acknowledged = 3, .payload = Buffer("offer")});
    add({.type = LinkFrameType::kBye, .offset = 34, .acknowledged = 3});
    return bytes;
  }
  void ExpectPiecesDoNotMatter(const std::string& bytes) {
    const std::string whole = testing::LinkFrameOutcome(bytes, bytes.size() + 1, *pool_);
    EXPECT_EQ(testing::LinkFrameOutcome(bytes, 1, *pool_), whole);
    EXPECT_EQ(testing::LinkFrameOutcome(bytes, 13, *pool_), whole);
  }

  std::unique_ptr<BlockPool> pool_ = std::move(BlockPool::Create({})).value();
};

TEST_F(LinkFrameMutationTest, EveryBitFlippedAlone) {
  const std::string valid = ValidBytes();
  for (size_t at = 0; at < valid.size(); ++at) {
    for (int bit = 0; bit < 8; ++bit) {
      std::string bytes = valid;
      bytes[at] = static_cast<char>(bytes[at] ^ (1 << bit));
      ExpectPiecesDoNotMatter(bytes);
    }
  }
}

TEST_F(LinkFrameMutationTest, EveryPlaceCutOffOrWithAByteLeftOut) {
  const std::string valid = ValidBytes();
  for (size_t at = 0; at < valid.size(); ++at) {
    ExpectPiecesDoNotMatter(valid.substr(0, at));
    ExpectPiecesDoNotMatter(absl::StrCat(valid.substr(0, at), valid.substr(at + 1)));
  }
}

TEST_F(LinkFrameMutationTest, ManyRandomBytesAtOnce) {
  TestRandom random(20240229);
  const std::string valid = ValidBytes();
  for (int round = 0; round < 3000; ++round) {
    std::string bytes = valid;
    for (uint64_t i = 1 + random.Below(8); i > 0; --i) {
      bytes[random.Below(bytes.size())] = static_cast<char>(random.Next());
    }
    ExpectPiecesDoNotMatter(bytes);
  }
}

}  // namespace
}  // namespace farcall
