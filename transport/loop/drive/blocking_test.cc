// SPDX-License-Identifier: Apache-2.0

#include "transport/loop/drive/blocking.h"

#include <gtest/gtest.h>

#include <string>

namespace farcall {
namespace {

struct CountedCode final : WatchedCode {
  void OnLong() override { ++times_long; }
  void OnBlocking() override { ++times_blocking; }
  std::string Name() const override { return "the code"; }

  int times_long = 0;
  int times_blocking = 0;
};

struct Hook final : BlockingHook {
  explicit Hook(bool taken_over) : taken_over_(taken_over) { SetBlockingHook(this); }
  ~Hook() { SetBlockingHook(nullptr); }
  absl::Status BeforeBlocking() override {
    return taken_over_ ? absl::OkStatus() : absl::ResourceExhaustedError("none takes over");
  }

 private:
  const bool taken_over_;
};

TEST(BlockingTest, CodeThatWaitsIsNotTakenForLongAfterwards) {
  Hook hook(true);
  CountedCode code;
  BeginWatch(code);
  EXPECT_TRUE(BeforeBlocking().ok());
  EXPECT_TRUE(BeforeBlocking().ok());
  EXPECT_EQ(code.times_blocking, 2);
  EXPECT_EQ(hook.watched.TakeName(), "");
  EXPECT_EQ(code.times_long, 0);
  EndWatch();
}

TEST(BlockingTest, CodeThatRanForLongIsNotifiedWhenItWaits) {
  Hook hook(true);
  CountedCode code;
  BeginWatch(code);
  EXPECT_EQ(hook.watched.TakeName(), "the code");
  EXPECT_EQ(code.times_long, 1);
  EXPECT_TRUE(BeforeBlocking().ok());
  EXPECT_EQ(code.times_blocking, 1);
  EndWatch();
}

TEST(BlockingTest, WhoMayNotWaitAndWhoIsOverIsNotNotified) {
  CountedCode code;
  {
    Hook hook(false);
    BeginWatch(code);
    EXPECT_FALSE(BeforeBlocking().ok());
    EndWatch();
  }
  Hook hook(true);
  BeginWatch(code);
  EndWatch();
  EXPECT_TRUE(BeforeBlocking().ok());
  EXPECT_EQ(hook.watched.TakeName(), "");
  EXPECT_EQ(code.times_blocking, 0);
}

}  // namespace
}  // namespace farcall
