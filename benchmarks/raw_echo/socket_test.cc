// SPDX-License-Identifier: Apache-2.0

#include "benchmarks/raw_echo/socket.h"

#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace farcall::bench {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

// One byte from a connecting socket to an accepted one.
void ExpectBytesFlow(const std::string& address) {
  absl::StatusOr<UniqueFd> listener = ListenOn(address);
  ASSERT_TRUE(listener.ok()) << listener.status();
  const absl::StatusOr<UniqueFd> client = ConnectTo(AddressOf(listener->get()));
  ASSERT_TRUE(client.ok()) << client.status();
  const UniqueFd server = AcceptFrom(listener->get());
  ASSERT_TRUE(server.valid());
  ASSERT_EQ(send(client->get(), "x", 1, 0), 1);
  char byte = 0;
  ASSERT_EQ(recv(server.get(), &byte, 1, 0), 1);
  EXPECT_EQ(byte, 'x');
}

TEST(SocketTest, BytesFlowOverIpv4) { ExpectBytesFlow("127.0.0.1:0"); }

TEST(SocketTest, BytesFlowByName) { ExpectBytesFlow("localhost:0"); }

TEST(SocketTest, BytesFlowOverIpv6WhereTheMachineHasIt) {
  const UniqueFd probe(socket(AF_INET6, SOCK_STREAM, 0));
  struct stat ignored;
  if (probe.valid() && stat("/proc/net/if_inet6", &ignored) == 0 && ListenOn("[::1]:0").ok()) {
    ExpectBytesFlow("[::1]:0");
  }
}

TEST(SocketTest, BytesFlowOverAUnixSocketAndItsFileIsReplaced) {
  // The directory for tests may have a longer name than a unix socket takes.
  char directory[] = "/tmp/socket_test_XXXXXX";
  ASSERT_NE(mkdtemp(directory), nullptr);
  const std::string path = std::string(directory) + "/socket";
  ExpectBytesFlow("unix:" + path);
  ExpectBytesFlow("unix:" + path);
  unlink(path.c_str());
  rmdir(directory);
}

TEST(SocketTest, AddressesShowTheChosenPort) {
  const absl::StatusOr<UniqueFd> listener = ListenOn("127.0.0.1:0");
  ASSERT_TRUE(listener.ok()) << listener.status();
  const std::string address = AddressOf(listener->get());
  EXPECT_THAT(address, StartsWith("127.0.0.1:"));
  EXPECT_NE(address, "127.0.0.1:0");
}

TEST(SocketTest, ErrorsNameTheAddress) {
  for (const std::string address : {"127.0.0.1", "127.0.0.1:no", "unix:"}) {
    const absl::Status status = ConnectTo(address).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << address;
    EXPECT_THAT(std::string(status.message()), HasSubstr(address));
  }
  EXPECT_THAT(std::string(ConnectTo("unix:/nowhere/x").status().message()),
              HasSubstr("unix:/nowhere/x"));
  EXPECT_FALSE(ListenOn("unix:" + std::string(200, 'x')).ok());
}

TEST(SocketTest, AnAddressInUseIsAnError) {
  const absl::StatusOr<UniqueFd> first = ListenOn("127.0.0.1:0");
  ASSERT_TRUE(first.ok()) << first.status();
  const std::string address = AddressOf(first->get());
  EXPECT_THAT(std::string(ListenOn(address).status().message()), HasSubstr(address));
}

}  // namespace
}  // namespace farcall::bench
