// SPDX-License-Identifier: Apache-2.0

#include "rpc/closure.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <stdexcept>
#include <thread>
#include <utility>
#include <vector>

#include "transport/base/sanitizer.h"

namespace farcall {
namespace {

using google::protobuf::Closure;

TEST(ClosureTest, RunsOnceAndFreesItself) {
  int runs = 0;
  Closure* const closure = NewClosure([&] { ++runs; });
  EXPECT_EQ(runs, 0);
  closure->Run();
  EXPECT_EQ(runs, 1);
}

TEST(ClosureTest, WhatTheCallableOwnsIsFreedAfterTheRun) {
  auto owned = std::make_unique<int>(7);
  auto shared = std::make_shared<int>(8);
  const std::weak_ptr<int> watch = shared;
  int seen = 0;
  NewClosure([owned = std::move(owned), shared = std::move(shared), &seen] {
    seen = *owned + *shared;
  })->Run();
  EXPECT_EQ(seen, 15);
  EXPECT_TRUE(watch.expired());
}

// The memory of a closure is free before its callable runs: it may make the next call, which
// makes the next closure.
TEST(ClosureTest, TheCallableMayMakeAnotherClosure) {
  int left = 1000;
  std::function<void()> step = [&] {
    if (--left > 0) NewClosure(step)->Run();
  };
  NewClosure(step)->Run();
  EXPECT_EQ(left, 0);
}

// Except under AddressSanitizer, which looks for uses of what has been freed.
TEST(ClosureTest, TheMemoryOfOneIsThatOfTheNext) {
  const auto make = [] { return NewClosure([] {}); };
  Closure* const first = make();
  const auto place = reinterpret_cast<uintptr_t>(first);
  first->Run();
  Closure* const second = make();
  EXPECT_EQ(reinterpret_cast<uintptr_t>(second) == place, !kAddressSanitizer);
  second->Run();
}

TEST(ClosureDeathTest, ASecondRunIsAFault) {
  Closure* const closure = NewClosure([] {});
  closure->Run();
  EXPECT_DEATH(closure->Run(), "");
}

TEST(ClosureTest, OneThatNeverRunsMayBeDeleted) {
  auto owned = std::make_shared<int>(7);
  const std::weak_ptr<int> watch = owned;
  delete NewClosure([owned = std::move(owned)] { FAIL() << "nobody runs it"; });
  EXPECT_TRUE(watch.expired());
}

// Many at a time, made by one thread and run by another: what is kept goes round.
TEST(ClosureTest, OtherThreadsMayRunThem) {
  std::atomic<int> runs{0};
  for (int round = 0; round < 10; ++round) {
    std::vector<Closure*> made;
    for (int i = 0; i < 100; ++i) made.push_back(NewClosure([&runs] { ++runs; }));
    std::thread([&made] {
      for (Closure* const closure : made) closure->Run();
    }).join();
  }
  EXPECT_EQ(runs, 1000);
}

TEST(ClosureTest, NamedCallablesAreCopied) {
  int runs = 0;
  const auto increment = [&runs] { ++runs; };
  auto counter = [&runs, own = 0]() mutable { runs += ++own; };
  NewClosure(increment)->Run();
  NewClosure(counter)->Run();
  NewClosure(counter)->Run();
  EXPECT_EQ(runs, 3);
}

void AddOne(int* to) { ++*to; }

TEST(ClosureTest, AnythingThatCanBeCalledWillDo) {
  int runs = 0;
  NewClosure(std::bind(&AddOne, &runs))->Run();
  NewClosure(std::function<void()>([&] { ++runs; }))->Run();
  EXPECT_EQ(runs, 2);
}

TEST(ClosureTest, AnExceptionLeavesNothingBehind) {
  auto shared = std::make_shared<int>(1);
  const std::weak_ptr<int> watch = shared;
  Closure* const closure =
      NewClosure([shared = std::move(shared)] { throw std::runtime_error("as it comes"); });
  EXPECT_THROW(closure->Run(), std::runtime_error);
  EXPECT_TRUE(watch.expired());
}

TEST(ClosureGuardTest, RunsWhenTheScopeEnds) {
  int runs = 0;
  {
    const ClosureGuard guard(NewClosure([&] { ++runs; }));
    EXPECT_EQ(runs, 0);
  }
  EXPECT_EQ(runs, 1);
}

TEST(ClosureGuardTest, RunsOnEveryWayOut) {
  int runs = 0;
  const auto handler = [&](bool early) {
    const ClosureGuard guard(NewClosure([&] { ++runs; }));
    if (early) return;
    throw std::runtime_error("late");
  };
  handler(true);
  EXPECT_EQ(runs, 1);
  EXPECT_THROW(handler(false), std::runtime_error);
  EXPECT_EQ(runs, 2);
}

TEST(ClosureGuardTest, WhoReleasesRunsItHimself) {
  int runs = 0;
  Closure* later = nullptr;
  {
    ClosureGuard guard(NewClosure([&] { ++runs; }));
    later = guard.release();
    EXPECT_EQ(guard.release(), nullptr);
  }
  EXPECT_EQ(runs, 0);
  later->Run();
  EXPECT_EQ(runs, 1);
}

TEST(ClosureGuardTest, MayGuardNothing) { const ClosureGuard guard(nullptr); }

}  // namespace
}  // namespace farcall
