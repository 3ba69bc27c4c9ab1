// SPDX-License-Identifier: Apache-2.0

#include "transport/base/host/process_mark.h"

#include <sys/wait.h>
#include <unistd.h>

#include <functional>
#include <memory>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"

namespace farcall {
namespace {

// What `work` says in a child.
bool InAChild(const std::function<bool()>& work) {
  const pid_t child = ::fork();
  if (child == 0) ::_exit(work() ? 0 : 1);
  int status = -1;
  return ::waitpid(child, &status, 0) == child && status == 0;
}

TEST(ProcessMarkTest, TellsAChildFromItsParent) {
  const ProcessMark mark;
  EXPECT_TRUE(mark.here());
  EXPECT_TRUE(InAChild([&] { return !mark.here(); }));
  EXPECT_TRUE(mark.here()) << "the parent is what it was";
}

TEST(ProcessMarkTest, OneThatIsMadeInTheChildIsTheChilds) {
  const ProcessMark parents;
  EXPECT_TRUE(InAChild([&] {
    const ProcessMark own;
    return own.here() && InAChild([&] { return !own.here() && !parents.here(); });
  }));
}

TEST(ProcessMarkTest, NamesTheProcessItBelongsTo) {
  const ProcessMark mark;
  EXPECT_TRUE(absl::StrContains(mark.NotHere().message(), absl::StrCat("process ", ::getpid())));
}

TEST(ProcessMarkTest, WhatIsKeptIsNotDestroyed) {
  bool destroyed = false;
  KeepForEver(std::shared_ptr<int>(new int(1), [&](int* number) {
    destroyed = true;
    delete number;
  }));
  EXPECT_FALSE(destroyed);
}

}  // namespace
}  // namespace farcall
