// SPDX-License-Identifier: Apache-2.0

#include "tools/doctor/watchdog.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <future>
#include <string>

#include "tools/doctor/diagnose.h"

namespace farcall::doctor {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::seconds;

TEST(WatchdogTest, TellsWhereItStandsStill) {
  std::promise<std::string> told;
  auto future = told.get_future();
  Watchdog watchdog(milliseconds(20),
                    [&](const std::string& progress) { told.set_value(progress); });
  watchdog.Report("reading the node's files");
  ASSERT_EQ(future.wait_for(seconds(10)), std::future_status::ready);
  const std::string progress = future.get();
  // Where this thread is late, it stood still before.
  EXPECT_TRUE(progress == "reading the node's files" || progress == "beginning") << progress;
}

TEST(WatchdogTest, EndsWithWhatItWatches) {
  bool called = false;
  {
    Watchdog watchdog(hours(1), [&](const std::string&) { called = true; });
    watchdog.Report("a");
    watchdog.Report("b");
  }
  EXPECT_FALSE(called);
}

TEST(WatchdogDeathTest, ADriverThatHangsEndsTheProcess) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(
      {
        Watchdog watchdog(milliseconds(200), EndProcess);
        watchdog.Report("asking libibverbs and librdmacm");
        while (true) pause();
      },
      testing::ExitedWithCode(kNoRdma),
      // Where this process is late, it stood still before.
      "stands still at \"(asking libibverbs and librdmacm|beginning)\": the driver or the kernel "
      "does not "
      "answer; see dmesg and /proc/[0-9]+/stack");
}

}  // namespace
}  // namespace farcall::doctor
