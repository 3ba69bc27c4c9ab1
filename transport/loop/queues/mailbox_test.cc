// SPDX-License-Identifier: Apache-2.0

#include "transport/loop/queues/mailbox.h"

#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <thread>
#include <vector>

namespace farcall {
namespace {

TEST(MailboxTest, RunsInTheOrderOfPutting) {
  Mailbox mailbox;
  std::vector<int> seen;
  EXPECT_TRUE(mailbox.empty());
  EXPECT_EQ(mailbox.RunAll(), 0u);
  for (int i = 0; i < 100; ++i) {
    mailbox.Put([&seen, i] { seen.push_back(i); });
  }
  EXPECT_FALSE(mailbox.empty());
  EXPECT_EQ(mailbox.RunAll(), 100u);
  EXPECT_TRUE(mailbox.empty());
  for (int i = 0; i < 100; ++i) EXPECT_EQ(seen[static_cast<size_t>(i)], i);
}

TEST(MailboxTest, WhatATaskPostsWaitsForTheNextCall) {
  Mailbox mailbox;
  int runs = 0;
  struct Again {
    Mailbox& mailbox;
    int& runs;
    void operator()() {
      ++runs;
      mailbox.Put(Again{mailbox, runs});
    }
  };
  mailbox.Put(Again{mailbox, runs});
  EXPECT_EQ(mailbox.RunAll(), 1u);
  EXPECT_EQ(runs, 1);
  EXPECT_FALSE(mailbox.empty());
  EXPECT_EQ(mailbox.RunAll(), 1u);
  EXPECT_EQ(runs, 2);
}

TEST(MailboxTest, ATaskIsDestroyedRightAfterItRan) {
  Mailbox mailbox;
  auto owned = std::make_shared<int>(1);
  const std::weak_ptr<int> watch = owned;
  bool gone = false;
  mailbox.Put([owned = std::move(owned)] { EXPECT_EQ(*owned, 1); });
  mailbox.Put([&] { gone = watch.expired(); });
  mailbox.RunAll();
  EXPECT_TRUE(gone);
}

TEST(MailboxTest, DestroysWhatWasNotRun) {
  auto owned = std::make_shared<int>(1);
  const std::weak_ptr<int> watch = owned;
  {
    Mailbox mailbox;
    mailbox.Put([owned = std::move(owned)] { FAIL() << *owned; });
    EXPECT_FALSE(watch.expired());
  }
  EXPECT_TRUE(watch.expired());
}

TEST(MailboxTest, ClearDestroysWithoutRunning) {
  Mailbox mailbox;
  auto owned = std::make_shared<int>(1);
  const std::weak_ptr<int> watch = owned;
  mailbox.Put([owned = std::move(owned)] { FAIL() << *owned; });
  mailbox.Clear();
  EXPECT_TRUE(watch.expired());
  EXPECT_TRUE(mailbox.empty());
  EXPECT_EQ(mailbox.RunAll(), 0u);
}

TEST(MailboxTest, ManySendersEachInItsOrderNothingLostNothingDoubled) {
  constexpr int kSenders = 4;
  constexpr int kTasks = 20'000;
  Mailbox mailbox;
  std::vector<int> next(kSenders, 0);  // touched by the reader only
  int wrong = 0;
  std::vector<std::thread> senders;
  for (int sender = 0; sender < kSenders; ++sender) {
    senders.emplace_back([&, sender] {
      for (int i = 0; i < kTasks; ++i) {
        mailbox.Put([&next, &wrong, sender, i] {
          int& expected = next[static_cast<size_t>(sender)];
          wrong += expected == i ? 0 : 1;
          ++expected;
        });
      }
    });
  }
  size_t read = 0;
  while (read < size_t{kSenders} * kTasks) {
    const size_t count = mailbox.RunAll();
    read += count;
    if (count == 0) std::this_thread::yield();
  }
  for (std::thread& sender : senders) sender.join();
  EXPECT_EQ(mailbox.RunAll(), 0u);
  EXPECT_EQ(wrong, 0);
  for (const int count : next) EXPECT_EQ(count, kTasks);
}

TEST(MailboxTest, WhoReadsSeesWhatWasWrittenBeforePutting) {
  // A plain variable travels with each task: TSan proves the ordering.
  constexpr int kTasks = 10'000;
  Mailbox mailbox;
  std::thread sender([&mailbox] {
    for (int i = 0; i < kTasks; ++i) {
      auto task = std::make_unique<int>(i);
      int* const value = task.get();
      mailbox.Put([task = std::move(task), value, i] { ASSERT_EQ(*value, i); });
    }
  });
  size_t read = 0;
  while (read < kTasks) read += mailbox.RunAll();
  sender.join();
}

}  // namespace
}  // namespace farcall
