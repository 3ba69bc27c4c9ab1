// SPDX-License-Identifier: Apache-2.0

#include "transport/rdma/memory/memlock.h"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <cerrno>
#include <string>

#include "transport/base/check.h"
#include "transport/why_not_rdma.h"

namespace farcall {
namespace {

constexpr size_t kMiB = size_t{1} << 20;

// The soft limit, which everybody may lower.
class MemlockTest : public ::testing::Test {
 protected:
  MemlockTest() {
    Check(getrlimit(RLIMIT_MEMLOCK, &former_) == 0, "getrlimit(2) works");
    rlimit limit = former_;
    limit.rlim_cur = 4096;
    Check(setrlimit(RLIMIT_MEMLOCK, &limit) == 0, "a limit may be lowered");
  }
  ~MemlockTest() override { setrlimit(RLIMIT_MEMLOCK, &former_); }

 private:
  rlimit former_{};
};

TEST_F(MemlockTest, TellsTheBytesNeededInAllAndThoseAllowed) {
  const absl::Status error = RegistrationError("mlx5_0", 8 * kMiB, 24 * kMiB, ENOMEM);
  EXPECT_EQ(ReasonOf(error), WhyNotRdma::kMemlock);
  const std::string message(error.message());
  EXPECT_NE(message.find("mlx5_0: 25165824 bytes are needed"), std::string::npos) << message;
  EXPECT_NE(message.find("4096 are allowed"), std::string::npos) << message;
}

TEST_F(MemlockTest, OtherErrorsAreTheDevices) {
  const absl::Status error = RegistrationError("mlx5_0", 8 * kMiB, 24 * kMiB, EIO);
  EXPECT_EQ(ReasonOf(error), WhyNotRdma::kDeviceRefused);
  const std::string message(error.message());
  EXPECT_NE(message.find("mlx5_0: ibv_reg_mr of 8388608 bytes: Input/output error"),
            std::string::npos)
      << message;
}

TEST_F(MemlockTest, LackOfMemoryWithinTheLimitIsTheDevices) {
  EXPECT_EQ(ReasonOf(RegistrationError("mlx5_0", 2048, 4096, ENOMEM)), WhyNotRdma::kDeviceRefused);
  EXPECT_EQ(ReasonOf(RegistrationError("mlx5_0", 2048, 4097, ENOMEM)), WhyNotRdma::kMemlock);
}

}  // namespace
}  // namespace farcall
