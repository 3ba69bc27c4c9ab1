// SPDX-License-Identifier: Apache-2.0
//
// That it serves, and ends on a signal, is seen by kv_test and block_store_test.

#include "examples/common/store_server.h"

#include "examples/echo/echo.pb.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace example {
namespace {

using testing::HasSubstr;

TEST(StoreServerTest, AnAddressThatCannotBeHadIsNamed) {
  const auto runtime = StoreRuntime(1, 1 << 20);
  ASSERT_TRUE(runtime.ok()) << runtime.status();
  class : public EchoService {
  } service;
  const absl::Status status = ServeStore(**runtime, service, "unix:/nowhere/at/all", false);
  EXPECT_THAT(std::string(status.message()), HasSubstr("/nowhere/at/all"));
}

TEST(StoreServerTest, TheBlocksHaveRoomForWhatIsKeptAndReplaced) {
  constexpr size_t kStored = size_t{1} << 30;
  const auto runtime = StoreRuntime(1, kStored);
  ASSERT_TRUE(runtime.ok()) << runtime.status();
  EXPECT_GT((*runtime)->parts().pool->stats().max_bytes, 3 * kStored);
}

TEST(StoreServerTest, WrongOptionsAreToldByTheRuntime) {
  EXPECT_THAT(std::string(StoreRuntime(-1, 1 << 20).status().message()), HasSubstr("event_loops"));
}

}  // namespace
}  // namespace example
