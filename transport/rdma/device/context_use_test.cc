// SPDX-License-Identifier: Apache-2.0

#include "transport/rdma/device/context_use.h"

#include <gtest/gtest.h>

#include <cerrno>
#include <optional>
#include <string>
#include <vector>

#include "transport/rdma/verbs/testing/scripted_verbs.h"

namespace farcall {
namespace {

TEST(ContextUseTest, AContextIsReleasedWhenItsLastUserIsGone) {
  ScriptedVerbs verbs;
  ibv_context* const context = &verbs.AddDevice("mlx5_0").context;
  std::optional<ContextUse> one(context);
  std::optional<ContextUse> other(context);
  EXPECT_FALSE(ContextUse::Release(verbs.api(), context));
  one.reset();
  EXPECT_FALSE(ContextUse::Release(verbs.api(), context));
  other.reset();
  EXPECT_TRUE(verbs.calls.empty());
  EXPECT_TRUE(ContextUse::Release(verbs.api(), context));
  EXPECT_EQ(verbs.calls, std::vector<std::string>{"release_context"});
}

TEST(ContextUseTest, UsersOfAnotherContextDoNotMatter) {
  ScriptedVerbs verbs;
  const ContextUse other(&verbs.AddDevice("mlx5_1").context);
  EXPECT_TRUE(ContextUse::Release(verbs.api(), &verbs.AddDevice("mlx5_0").context));
}

TEST(ContextUseTest, WhatCannotBeReleasedIsSaid) {
  ScriptedVerbs verbs;
  verbs.Fail("release_context", EBUSY);
  EXPECT_FALSE(ContextUse::Release(verbs.api(), &verbs.AddDevice("mlx5_0").context));
}

}  // namespace
}  // namespace farcall
