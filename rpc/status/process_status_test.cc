// SPDX-License-Identifier: Apache-2.0

#include "rpc/status/process_status.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <thread>
#include <vector>

#include "gtest/gtest.h"
#include "transport/base/unique_fd.h"

namespace farcall {
namespace {

TEST(ProcessStatusTest, TellsOfThisProcess) {
  const ProcessStatus status = ReadProcessStatus();
  EXPECT_EQ(status.pid, getpid());
  EXPECT_GT(status.cpu_seconds, 0);
  EXPECT_GT(status.resident_bytes, 100'000U);
  EXPECT_GT(status.virtual_bytes, status.resident_bytes);
  EXPECT_GE(status.threads, 1U);
  EXPECT_GE(status.max_fds, status.open_fds);
}

TEST(ProcessStatusTest, TellsOfTheLimitThatRdmaMeets) {
  rlimit limit{};
  ASSERT_EQ(getrlimit(RLIMIT_MEMLOCK, &limit), 0);
  const rlimit before = limit;
  limit.rlim_cur = std::min<rlim_t>(limit.rlim_max, 64 << 10);
  ASSERT_EQ(setrlimit(RLIMIT_MEMLOCK, &limit), 0);
  EXPECT_EQ(ReadProcessStatus().memlock_bytes, limit.rlim_cur);
  ASSERT_EQ(setrlimit(RLIMIT_MEMLOCK, &before), 0);
  EXPECT_EQ(ReadProcessStatus().memlock_bytes,
            before.rlim_cur == RLIM_INFINITY ? ProcessStatus::kUnlimited : before.rlim_cur);
  EXPECT_EQ(ReadProcessStatus().kernel.rfind("Linux ", 0), 0u);
}

TEST(ProcessStatusTest, TheStartIsInThePastAndStays) {
  const double now =
      std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
  const double start = ReadProcessStatus().start_unix_seconds;
  EXPECT_LE(start, now + 0.1);
  EXPECT_GT(start, now - 3600);
  // Alarms of restarts count its changes.
  for (int i = 0; i < 100; ++i) EXPECT_EQ(ReadProcessStatus().start_unix_seconds, start);
}

TEST(ProcessStatusTest, CountsDescriptors) {
  const uint64_t before = ReadProcessStatus().open_fds;
  std::vector<UniqueFd> more;
  for (int i = 0; i < 5; ++i) more.emplace_back(open("/dev/null", O_RDONLY | O_CLOEXEC));
  EXPECT_EQ(ReadProcessStatus().open_fds, before + 5);
}

}  // namespace
}  // namespace farcall
