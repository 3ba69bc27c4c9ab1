// SPDX-License-Identifier: Apache-2.0

#include "rpc/session/thread_meta.h"

#include <gtest/gtest.h>

namespace farcall {
namespace {

TEST(ThreadMetaTest, TheSameOneEachTimeAndCleared) {
  wire::RpcMeta& meta = ThreadMeta<MetaOf::kRequest>::Get();
  meta.set_correlation_id(7);
  EXPECT_EQ(&ThreadMeta<MetaOf::kRequest>::Get(), &meta);
  EXPECT_FALSE(meta.has_correlation_id());
  EXPECT_NE(&ThreadMeta<MetaOf::kAnswer>::Get(), &meta);
}

}  // namespace
}  // namespace farcall
