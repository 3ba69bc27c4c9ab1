// SPDX-License-Identifier: Apache-2.0

#include "transport/loop/queues/user_queue.h"

#include <gtest/gtest.h>

namespace farcall {
namespace {

class Task final : public UserTask {
 public:
  void Run() override { ++runs; }
  int runs = 0;
};

TEST(UserQueueTest, FirstInFirstOut) {
  UserQueue queue;
  Task a;
  Task b;
  Task c;
  EXPECT_TRUE(queue.empty());
  EXPECT_EQ(queue.Pop(), nullptr);
  queue.Push(a);
  queue.Push(b);
  queue.Push(c);
  EXPECT_EQ(queue.size(), 3u);
  EXPECT_EQ(queue.Pop(), &a);
  EXPECT_EQ(queue.Pop(), &b);
  EXPECT_EQ(queue.Pop(), &c);
  EXPECT_EQ(queue.Pop(), nullptr);
  EXPECT_TRUE(queue.empty());
  EXPECT_EQ(queue.size(), 0u);
}

TEST(UserQueueTest, GoesOnAfterItWasEmptied) {
  UserQueue queue;
  Task a;
  Task b;
  queue.Push(a);
  EXPECT_EQ(queue.Pop(), &a);
  queue.Push(b);
  queue.Push(a);
  EXPECT_EQ(queue.Pop(), &b);
  EXPECT_EQ(queue.Pop(), &a);
  EXPECT_TRUE(queue.empty());
}

TEST(UserQueueTest, ATaskMayBeQueuedAgainOnceItIsTaken) {
  UserQueue queue;
  Task a;
  for (int i = 1; i <= 3; ++i) {
    queue.Push(a);
    UserTask* const task = queue.Pop();
    ASSERT_EQ(task, &a);
    task->Run();
    EXPECT_EQ(a.runs, i);
  }
}

}  // namespace
}  // namespace farcall
