// SPDX-License-Identifier: Apache-2.0

#include "transport/rdma/flow/wr_id.h"

#include <cstdint>

#include "gtest/gtest.h"

namespace farcall {
namespace {

using Kind = WrId::Kind;

TEST(WrIdTest, TheBitsAreFrozen) {
  EXPECT_EQ(PackWrId({.kind = Kind::kSend, .slot = 0x12345678}), 0x0100000012345678u);
  EXPECT_EQ(PackWrId({.kind = Kind::kReceive}), 0x0200000000000000u);
  EXPECT_EQ(PackWrId({.kind = Kind::kBind, .slot = 3}), 0x0300000000000003u);
  EXPECT_EQ(PackWrId({.kind = Kind::kInvalidate, .slot = 3}), 0x0400000000000003u);
  EXPECT_EQ(PackWrId({.kind = Kind::kRead}), 0x0500000000000000u);
  EXPECT_EQ(PackWrId({.kind = Kind::kOwnReceive}), 0x0600000000000000u);
}

TEST(WrIdTest, WhatIsPackedIsUnpacked) {
  for (const Kind kind : {Kind::kNone, Kind::kSend, Kind::kReceive, Kind::kBind, Kind::kInvalidate,
                          Kind::kRead, Kind::kOwnReceive}) {
    for (const uint32_t slot : {0u, 1u, 0x7fffffffu, 0xffffffffu}) {
      const WrId id{.kind = kind, .slot = slot};
      EXPECT_EQ(UnpackWrId(PackWrId(id)), id);
    }
  }
}

TEST(WrIdTest, WhatIsNotOursHasNoKind) {
  for (uint64_t kind = 7; kind < 256; ++kind) {
    EXPECT_EQ(UnpackWrId(kind << 56 | 7), WrId());
  }
  for (int bit = 32; bit < 56; ++bit) {
    EXPECT_EQ(UnpackWrId(uint64_t{1} << 56 | uint64_t{1} << bit), WrId());
  }
  EXPECT_EQ(UnpackWrId(0).kind, Kind::kNone);
}

}  // namespace
}  // namespace farcall
