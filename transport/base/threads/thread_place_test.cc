// SPDX-License-Identifier: Apache-2.0

#include "transport/base/threads/thread_place.h"

#include <gtest/gtest.h>

#include <latch>
#include <thread>

#include "transport/base/host/cores.h"

namespace farcall {
namespace {

TEST(ThreadPlaceTest, MovesThoseThatAreThereAndThoseThatCome) {
  const std::vector<int> all = AllowedCpus();
  const std::vector<int> last = {all.back()};
  ThreadPlace place;
  std::vector<int> before;
  std::vector<int> after;
  std::vector<int> unable;
  std::latch in(1);
  std::latch moved(1);
  std::thread thread([&] {
    const ThreadPlace::Stay stay(place);
    before = AllowedCpus();
    in.count_down();
    moved.wait();
    after = AllowedCpus();
  });
  in.wait();
  place.MoveTo(last);
  moved.count_down();
  thread.join();
  EXPECT_EQ(before, all);
  EXPECT_EQ(after, last);

  std::thread([&] {
    const ThreadPlace::Stay stay(place);
    after = AllowedCpus();
    place.MoveTo({kMaxCpus});
    unable = AllowedCpus();
  }).join();
  EXPECT_EQ(after, last);
  EXPECT_EQ(unable, last) << "stays where it is";
  place.MoveTo(last);  // no thread is there any more
}

}  // namespace
}  // namespace farcall
