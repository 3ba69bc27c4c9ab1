// SPDX-License-Identifier: Apache-2.0

#include "transport/rdma/verbs/load.h"

#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <fstream>
#include <string>
#include <thread>
#include <type_traits>
#include <vector>

#include "transport/rdma/verbs/owned.h"
#include "transport/why_not_rdma.h"

namespace farcall {
namespace {

bool IsMapped(const std::string& library) {
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) {
    if (line.find(library) != std::string::npos) return true;
  }
  return false;
}

// Before main, and so before any test has loaded them.
const bool mapped_at_start = IsMapped("libibverbs") || IsMapped("librdmacm");

void ExpectNoLibrary(const VerbsLibraries& libraries, const std::string& named) {
  const auto api = LoadVerbsApi(libraries);
  ASSERT_FALSE(api.ok());
  EXPECT_EQ(ReasonOf(api.status()), WhyNotRdma::kNoLibrary);
  const std::string message(api.status().message());
  EXPECT_NE(message.find(named), std::string::npos) << message;
}

TEST(LoadVerbsApiTest, NothingDependsOnTheLibraries) {
  // Linked in: the handles, and what they call.
  EXPECT_NE(&CreateEventChannel, nullptr);
  EXPECT_FALSE(mapped_at_start);
}

TEST(LoadVerbsApiTest, AMissingLibraryIsNamed) {
  ExpectNoLibrary({.ibverbs = "libfarcall-none.so.1"}, "libfarcall-none.so.1");
}

TEST(LoadVerbsApiTest, AMissingFunctionIsNamedWithItsLibrary) {
  ExpectNoLibrary({.ibverbs = "libc.so.6"}, "libc.so.6 has no function ibv_get_device_list");
}

// On this host, or the reason why it has none.
TEST(LoadVerbsApiTest, FillsTheWholeTableOrTellsWhyNot) {
  const auto api = LoadVerbsApi();
  if (!api.ok()) {
    EXPECT_EQ(ReasonOf(api.status()), WhyNotRdma::kNoLibrary);
    return;
  }
  static_assert(std::is_trivially_copyable_v<VerbsApi>);
  std::array<void*, sizeof(VerbsApi) / sizeof(void*)> functions;
  std::memcpy(functions.data(), &*api, sizeof(*api));
  for (void* const function : functions) EXPECT_NE(function, nullptr);
  EXPECT_STREQ(api->ibv.wc_status_str(IBV_WC_SUCCESS), "success");
  EXPECT_STREQ(api->rdma.event_str(RDMA_CM_EVENT_ADDR_RESOLVED), "RDMA_CM_EVENT_ADDR_RESOLVED");
  EXPECT_TRUE(IsMapped("libibverbs"));
  EXPECT_TRUE(IsMapped("librdmacm"));

  ExpectNoLibrary({.rdmacm = "libfarcall-none.so.1"}, "libfarcall-none.so.1");
  ExpectNoLibrary({.rdmacm = "libc.so.6"}, "libc.so.6 has no function rdma_create_event_channel");
}

TEST(LoadVerbsApiTest, MayBeLoadedByManyThreadsAndAgain) {
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([] {
      const auto first = LoadVerbsApi();
      const auto second = LoadVerbsApi();
      ASSERT_EQ(first.ok(), second.ok());
      if (first.ok()) {
        EXPECT_EQ(first->rdma.create_id, second->rdma.create_id);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

}  // namespace
}  // namespace farcall
