// SPDX-License-Identifier: Apache-2.0

#include "transport/base/unique_fd.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/eventfd.h>

#include <utility>

namespace farcall {
namespace {

int Open() { return ::eventfd(0, EFD_CLOEXEC); }

bool IsOpen(int fd) { return ::fcntl(fd, F_GETFD) >= 0; }

TEST(UniqueFdTest, OwnsNothingAtFirst) {
  UniqueFd fd;
  EXPECT_FALSE(fd.valid());
  EXPECT_EQ(fd.get(), -1);
  fd.Reset();
  EXPECT_FALSE(fd.valid());
}

TEST(UniqueFdTest, ClosesWhenItDies) {
  const int number = Open();
  {
    UniqueFd fd(number);
    EXPECT_TRUE(fd.valid());
    EXPECT_EQ(fd.get(), number);
    EXPECT_TRUE(IsOpen(number));
  }
  EXPECT_FALSE(IsOpen(number));
}

TEST(UniqueFdTest, MovingHandsTheDescriptorOver) {
  const int number = Open();
  UniqueFd from(number);
  UniqueFd to(std::move(from));
  EXPECT_FALSE(from.valid());
  EXPECT_EQ(to.get(), number);
  EXPECT_TRUE(IsOpen(number));
}

TEST(UniqueFdTest, AssigningClosesWhatWasThere) {
  const int first = Open();
  const int second = Open();
  UniqueFd fd(first);
  fd = UniqueFd(second);
  EXPECT_FALSE(IsOpen(first));
  EXPECT_TRUE(IsOpen(second));
  EXPECT_EQ(fd.get(), second);
}

TEST(UniqueFdTest, AssigningToItselfKeepsTheDescriptor) {
  const int number = Open();
  UniqueFd fd(number);
  UniqueFd& same = fd;
  fd = std::move(same);
  EXPECT_EQ(fd.get(), number);
  EXPECT_TRUE(IsOpen(number));
}

TEST(UniqueFdTest, ResetClosesOnce) {
  UniqueFd fd(Open());
  const int number = fd.get();
  fd.Reset();
  EXPECT_FALSE(IsOpen(number));
  // The number is taken again, and a second Reset must not touch it.
  const int again = Open();
  ASSERT_EQ(again, number);
  fd.Reset();
  EXPECT_TRUE(IsOpen(again));
  ::close(again);
}

}  // namespace
}  // namespace farcall
