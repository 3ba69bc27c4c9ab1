// SPDX-License-Identifier: Apache-2.0
//
// What the transport tells while its control loop does not answer.

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>

#include "gtest/gtest.h"
#include "transport/rdma/testing/fake_rdma.h"

namespace farcall {
namespace {

TEST(RdmaStatusTest, AStuckControlLoopIsNotWaitedForLong) {
  FakeRdma fake(FakeMode::kImmediate);
  RdmaRig rig(fake.rig());
  std::mutex mutex;
  std::condition_variable changed;
  bool stuck = false;
  bool over = false;
  std::thread driver([&] {
    EXPECT_TRUE(rig.control().TryRun([&] {
      std::unique_lock<std::mutex> lock(mutex);
      stuck = true;
      changed.notify_all();
      changed.wait(lock, [&] { return over; });
    }));
  });
  {
    std::unique_lock<std::mutex> lock(mutex);
    changed.wait(lock, [&] { return stuck; });
  }
  const RdmaStatus status = rig.transport().Status(std::chrono::milliseconds(1));
  EXPECT_FALSE(status.answered);
  EXPECT_TRUE(status.devices.empty());
  {
    const std::lock_guard<std::mutex> lock(mutex);
    over = true;
    changed.notify_all();
  }
  driver.join();
  // The late answer is not read, and the next one comes.
  rig.control().RunOnce();
  EXPECT_TRUE(rig.transport().Status(std::chrono::seconds(10)).answered);
  rig.End();
}

}  // namespace
}  // namespace farcall
