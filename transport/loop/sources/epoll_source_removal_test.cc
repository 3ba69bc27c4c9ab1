// SPDX-License-Identifier: Apache-2.0
//
// Watches that end while an event of theirs was fetched, or is being handled.

#include <gtest/gtest.h>

#include <memory>

#include "transport/loop/sources/epoll_source_testing.h"

namespace farcall {
namespace {

using EpollSourceRemovalTest = EpollSourceTest;

TEST_F(EpollSourceRemovalTest, AStaleEventFindsNobody) {
  const UniqueFd fd = Readable();
  Handler gone;
  const EpollSource::Watch watch = Add(fd, gone);
  source_->Wait();
  source_->Remove(watch, fd.get());
  EXPECT_EQ(source_->size(), 0u);
  EXPECT_TRUE(source_->Poll());
  EXPECT_EQ(gone.calls, 0);
}

TEST_F(EpollSourceRemovalTest, AStaleEventDoesNotFindWhoHasTheSlotNow) {
  const UniqueFd fd = Readable();
  const UniqueFd quiet = Quiet();
  Handler gone;
  Handler fresh;
  const EpollSource::Watch old = Add(fd, gone);
  source_->Wait();
  source_->Remove(old, fd.get());
  const EpollSource::Watch now = Add(quiet, fresh);
  EXPECT_EQ(now.slot, old.slot);
  EXPECT_NE(now.generation, old.generation);
  EXPECT_TRUE(source_->Poll());
  EXPECT_EQ(gone.calls, 0);
  EXPECT_EQ(fresh.calls, 0);
}

TEST_F(EpollSourceRemovalTest, AHandlerMayRemoveOneWhoseEventIsInTheSameBatch) {
  const UniqueFd one = Readable();
  const UniqueFd two = Readable();
  EpollSource::Watch watches[2];
  std::unique_ptr<Handler> handlers[2];
  int calls = 0;
  // Whichever comes first removes and destroys the other.
  for (int i = 0; i < 2; ++i) {
    handlers[i] = std::make_unique<Handler>([&, i] {
      ++calls;
      source_->Remove(watches[1 - i], (i == 0 ? two : one).get());
      handlers[1 - i].reset();
    });
  }
  watches[0] = Add(one, *handlers[0]);
  watches[1] = Add(two, *handlers[1]);
  EXPECT_TRUE(source_->Poll());
  EXPECT_EQ(calls, 1);
  EXPECT_EQ(source_->size(), 1u);
}

TEST_F(EpollSourceRemovalTest, AHandlerMayRemoveItselfAndDie) {
  const UniqueFd fd = Readable();
  EpollSource::Watch watch;
  std::unique_ptr<Handler> handler;
  handler = std::make_unique<Handler>([&] { source_->Remove(watch, fd.get()); });
  watch = Add(fd, *handler);
  EXPECT_TRUE(source_->Poll());
  EXPECT_EQ(handler->calls, 1);
  EXPECT_FALSE(source_->Poll());
}

using EpollSourceRemovalDeathTest = EpollSourceTest;

TEST_F(EpollSourceRemovalDeathTest, AWatchIsRemovedOnce) {
  const UniqueFd fd = Readable();
  Handler handler;
  const EpollSource::Watch watch = Add(fd, handler);
  source_->Remove(watch, fd.get());
  EXPECT_DEATH(source_->Remove(watch, fd.get()), "a watch is removed once");
}

TEST_F(EpollSourceRemovalDeathTest, AWatchIsRemovedBeforeItsDescriptorIsClosed) {
  UniqueFd fd = Readable();
  Handler handler;
  const EpollSource::Watch watch = Add(fd, handler);
  const int number = fd.get();
  fd.Reset();
  EXPECT_DEATH(source_->Remove(watch, number), "before its descriptor is closed");
}

}  // namespace
}  // namespace farcall
