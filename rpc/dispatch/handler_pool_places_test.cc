// SPDX-License-Identifier: Apache-2.0
//
// How many handlers run at once, and who leaves a place to others meanwhile.

#include <gtest/gtest.h>
#include <pthread.h>

#include <atomic>
#include <cstddef>
#include <thread>

#include "absl/strings/match.h"
#include "rpc/dispatch/handler_pool_testing.h"
#include "transport/loop/drive/blocking.h"
#include "transport/loop/loop_testing.h"

namespace farcall {
namespace {

TEST(HandlerPoolTest, NoMoreRunAtOnceThanItSays) {
  constexpr int kMax = 3;
  std::atomic<int> running{0};
  std::atomic<int> most{0};
  {
    const auto pool = StartPool(kMax, 2);
    for (int i = 0; i < 2'000; ++i) {
      PoolTask::Submit(*pool, [&] {
        const int now = ++running;
        int seen = most;
        while (now > seen && !most.compare_exchange_weak(seen, now)) {
        }
        if (now % 2 == 0) std::this_thread::yield();
        --running;
      });
    }
  }
  EXPECT_LE(most, kMax);
}

TEST(HandlerPoolTest, WhatRunsElsewhereTakesAPlace) {
  const auto pool = StartPool(2);
  pool->BeginElsewhere();
  pool->BeginElsewhere();
  TestEvent ran;
  EXPECT_EQ(PoolTask::Submit(*pool, [&] { ran.Signal(); }), 1u);
  EXPECT_EQ(PoolTask::Submit(*pool, [&] { ran.Signal(); }), 2u);
  EXPECT_EQ(pool->waiting(), 2u);
  EXPECT_EQ(ran.count(), 0);
  pool->EndElsewhere();
  EXPECT_TRUE(ran.Wait(2));
  pool->EndElsewhere();
}

TEST(HandlerPoolTest, WhoWaitsInASynchronousCallLeavesItsPlaceToOthers) {
  constexpr int kSpares = 2;
  TestEvent waiting;
  TestEvent release;
  TestEvent done;
  const auto pool = StartPool(1, kSpares);
  for (int i = 0; i < kSpares; ++i) {
    PoolTask::Submit(*pool, [&] {
      EXPECT_TRUE(BeforeBlocking().ok());
      EXPECT_TRUE(BeforeBlocking().ok()) << "it is counted once";
      waiting.Signal();
      EXPECT_TRUE(release.Wait());
      done.Signal();
    });
  }
  ASSERT_TRUE(waiting.Wait(kSpares));
  PoolTask::Submit(*pool, [&] {
    const absl::Status status = BeforeBlocking();
    EXPECT_TRUE(absl::StartsWith(status.message(), "2 handlers wait in synchronous calls"))
        << status;
    release.Signal();
    done.Signal();
  });
  EXPECT_TRUE(done.Wait(kSpares + 1));
}

// While it lives the system gives no thread: none can have a stack that large.
class NoMoreThreads {
 public:
  NoMoreThreads() {
    EXPECT_EQ(pthread_getattr_default_np(&before_), 0);
    pthread_attr_t large;
    EXPECT_EQ(pthread_attr_init(&large), 0);
    EXPECT_EQ(pthread_attr_setstacksize(&large, size_t{1} << 50), 0);
    EXPECT_EQ(pthread_setattr_default_np(&large), 0);
    EXPECT_EQ(pthread_attr_destroy(&large), 0);
  }
  NoMoreThreads(const NoMoreThreads&) = delete;
  NoMoreThreads& operator=(const NoMoreThreads&) = delete;
  ~NoMoreThreads() {
    EXPECT_EQ(pthread_setattr_default_np(&before_), 0);
    EXPECT_EQ(pthread_attr_destroy(&before_), 0);
  }

 private:
  pthread_attr_t before_;
};

TEST(HandlerPoolTest, WhoMayWaitLeavesAThreadForWhatItWaitsFor) {
  const auto pool = StartPool(2, 2);
  TestEvent done;
  PoolTask::Submit(*pool, [&] {
    {
      const NoMoreThreads none;
      const absl::Status status = BeforeBlocking();
      EXPECT_TRUE(absl::StrContains(status.message(), "ulimit -u")) << status;
    }
    EXPECT_TRUE(BeforeBlocking().ok());
    const NoMoreThreads none;
    EXPECT_TRUE(BeforeBlocking().ok()) << "it has left one";
    TestEvent awaited;
    PoolTask::Submit(*pool, [&] {
      EXPECT_FALSE(BeforeBlocking().ok()) << "there are two threads, and the other one waits";
      awaited.Signal();
    });
    EXPECT_TRUE(awaited.Wait());
    done.Signal();
  });
  EXPECT_TRUE(done.Wait());
}

TEST(HandlerPoolTest, PlacesAreFreeAgainAfterSynchronousCalls) {
  const auto pool = StartPool(1, 1);
  for (int i = 0; i < 500; ++i) {
    TestEvent inner;
    TestEvent outer;
    PoolTask::Submit(*pool, [&] {
      if (BeforeBlocking().ok()) {
        PoolTask::Submit(*pool, [&] { inner.Signal(); });
        EXPECT_TRUE(inner.Wait());
      }
      outer.Signal();
    });
    ASSERT_TRUE(outer.Wait());
    // The outer one's end, so that its place is free.
    TestEvent behind;
    PoolTask::Submit(*pool, [&] { behind.Signal(); });
    ASSERT_TRUE(behind.Wait());
  }
}

TEST(HandlerPoolTest, WithoutSparesWhoWaitsKeepsItsPlace) {
  TestEvent waiting;
  TestEvent release;
  const auto pool = StartPool(1);
  PoolTask::Submit(*pool, [&] {
    EXPECT_TRUE(BeforeBlocking().ok());
    waiting.Signal();
    EXPECT_TRUE(release.Wait());
  });
  ASSERT_TRUE(waiting.Wait());
  TestEvent other;
  EXPECT_EQ(PoolTask::Submit(*pool, [&] { other.Signal(); }), 1u);
  EXPECT_EQ(other.count(), 0);
  release.Signal();
  EXPECT_TRUE(other.Wait());
}

}  // namespace
}  // namespace farcall
