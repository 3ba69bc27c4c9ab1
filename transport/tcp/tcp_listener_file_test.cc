// SPDX-License-Identifier: Apache-2.0
//
// The file of a listener on a unix address.

#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "absl/strings/match.h"
#include "gtest/gtest.h"
#include "transport/tcp/tcp_listener_testing.h"
#include "transport/tcp/testing/blocked_listener.h"

namespace farcall {
namespace {

TEST_F(TcpListenerTest, TheFileOfADeadServerIsReplaced) {
  const Address stale = ClosedAddress(UnixAddress("stale"));
  ASSERT_TRUE(std::filesystem::exists(stale.path()));
  const auto listener = Listen(stale);
  ASSERT_TRUE(listener.ok()) << listener.status();
  EXPECT_TRUE(Accepts(stale));
}

TEST_F(TcpListenerTest, TheFileOfALivingServerIsNot) {
  const auto listener = Listen(UnixAddress("live"));
  ASSERT_TRUE(listener.ok());
  const auto second = Listen(UnixAddress("live"));
  EXPECT_EQ(second.status().code(), absl::StatusCode::kAlreadyExists);
  EXPECT_TRUE(absl::StrContains(second.status().message(), "/live: already in use"));
  EXPECT_TRUE(Accepts(UnixAddress("live")));
  // Not of a busy one either.
  const BlockedListener busy(UnixAddress("busy"));
  EXPECT_EQ(Listen(UnixAddress("busy")).status().code(), absl::StatusCode::kAlreadyExists);
}

TEST_F(TcpListenerTest, AFileOfAnotherKindIsLeftAlone) {
  const Address address = UnixAddress("notes");
  std::ofstream(address.path()) << "important";
  const auto listener = Listen(address);
  EXPECT_EQ(listener.status().code(), absl::StatusCode::kAlreadyExists);
  EXPECT_EQ(std::filesystem::file_size(address.path()), 9u);
}

TEST_F(TcpListenerTest, TheFileGoesWithTheListener) {
  auto listener = Listen(UnixAddress("s"));
  ASSERT_TRUE(listener.ok());
  EXPECT_TRUE(std::filesystem::exists(UnixAddress("s").path()));
  (*listener)->Close();
  EXPECT_FALSE(std::filesystem::exists(UnixAddress("s").path()));
  // Another one has the path by now; the first leaves it alone.
  const auto second = Listen(UnixAddress("s"));
  ASSERT_TRUE(second.ok());
  listener->reset();
  EXPECT_TRUE(std::filesystem::exists(UnixAddress("s").path()));
}

TEST_F(TcpListenerTest, AReplacedFileIsLeftAlone) {
  const auto first = Listen(UnixAddress("s"));
  ASSERT_TRUE(first.ok());
  ASSERT_EQ(::unlink(UnixAddress("s").path().c_str()), 0);
  const auto second = Listen(UnixAddress("s"));
  ASSERT_TRUE(second.ok());
  (*first)->Close();
  EXPECT_TRUE(Accepts(UnixAddress("s")));
}

}  // namespace
}  // namespace farcall
