// SPDX-License-Identifier: Apache-2.0

#include "transport/tcp/tcp_listener.h"

#include <sys/socket.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "transport/tcp/tcp_listener_testing.h"
#include "transport/tcp/testing/fd_limit.h"
#include "transport/testing/conformance/driven_harness.h"

namespace farcall {
namespace {

TEST_F(TcpListenerTest, TheKernelChoosesAPort) {
  const auto listener = Listen(kAnywhere);
  ASSERT_TRUE(listener.ok());
  EXPECT_GT((*listener)->address().port(), 0);
  EXPECT_TRUE(Accepts((*listener)->address()));
  EXPECT_EQ(local_, (*listener)->address());
}

TEST_F(TcpListenerTest, AnIpv6WildcardTakesIpv4Too) {
  const auto listener = Listen(*Address::Parse("[::]:0"));
  ASSERT_TRUE(listener.ok());
  const uint16_t port = (*listener)->address().port();
  EXPECT_TRUE(Accepts(Address::Ipv4({127, 0, 0, 1}, port)));
  EXPECT_EQ(peer_.family(), AddressFamily::kIpv4);
  EXPECT_EQ(local_, Address::Ipv4({127, 0, 0, 1}, port));
  EXPECT_TRUE(Accepts(*Address::Parse(absl::StrCat("[::1]:", port))));
  EXPECT_EQ(peer_.family(), AddressFamily::kIpv6);
}

TEST_F(TcpListenerTest, ErrorsNameTheAddress) {
  const auto listener = Listen(kAnywhere);
  ASSERT_TRUE(listener.ok());
  const auto taken = Listen((*listener)->address());
  EXPECT_EQ(taken.status().code(), absl::StatusCode::kAlreadyExists);
  EXPECT_EQ(taken.status().message(),
            absl::StrCat("cannot listen on ", (*listener)->address().ToString(),
                         ": Address already in use; `ss -ltnp` tells by whom: stop that, or take "
                         "another port"));
  // 192.0.2.0/24 is not in use, RFC 5737.
  const absl::Status elsewhere = Listen(Address::Ipv4({192, 0, 2, 1}, 0)).status();
  EXPECT_EQ(elsewhere.code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(elsewhere.message(),
            "cannot listen on 192.0.2.1:0: Cannot assign requested address; it is none of this "
            "host's, which `ip addr` lists");
  EXPECT_TRUE(absl::StrContains(Listen(Address()).status().message(), "no address was given"));
}

TEST_F(TcpListenerTest, RunningOutOfDescriptorsIsSurvived) {
  const auto listener = Listen(kAnywhere);
  ASSERT_TRUE(listener.ok());
  const Address address = (*listener)->address();
  // UBSan takes descriptors to look at a type that it has not seen yet.
  ASSERT_TRUE(Accepts(address));
  for (int episode = 1; episode <= 2; ++episode) {
    std::vector<UniqueFd> clients;
    for (int i = 0; i < 5; ++i) clients.push_back(NewSocket(address));
    const int before = accepted_;
    {
      const FdLimit none_left;
      for (const UniqueFd& client : clients) ConnectFrom(client.get(), address);
      const auto logged = static_cast<size_t>(episode);
      ASSERT_TRUE(harness_.Until([&] { return logged_.size() == logged; }));
      // Through some retries.
      const TimePoint later = SteadyClock().Now() + std::chrono::milliseconds(80);
      ASSERT_TRUE(harness_.Until([&] { return SteadyClock().Now() > later; }));
      EXPECT_EQ(logged_.size(), logged) << "one line an episode";
      EXPECT_EQ(accepted_, before);
    }
    EXPECT_TRUE(harness_.Until([&] { return accepted_ == before + 5; }));
    harness_.Settle();
  }
  EXPECT_TRUE(absl::StrContains(
      logged_[0],
      absl::StrCat("cannot accept connections on ", address.ToString(), ": Too many open files")));
}

TEST_F(TcpListenerTest, ConnectionsThatEndBeforeTheyAreAcceptedAreNoTrouble) {
  const auto listener = Listen(kAnywhere);
  ASSERT_TRUE(listener.ok());
  for (int i = 0; i < 20; ++i) {
    const UniqueFd client = NewSocket((*listener)->address());
    ConnectFrom(client.get(), (*listener)->address());
    const linger at_once{1, 0};
    ASSERT_EQ(::setsockopt(client.get(), SOL_SOCKET, SO_LINGER, &at_once, sizeof(at_once)), 0);
  }
  EXPECT_TRUE(Accepts((*listener)->address()));
  EXPECT_EQ(logged_, std::vector<std::string>());
}

TEST_F(TcpListenerTest, MoreThanATurnTakesAreAllAccepted) {
  const auto listener = Listen(kAnywhere);
  ASSERT_TRUE(listener.ok());
  std::vector<UniqueFd> clients;
  for (int i = 0; i < 150; ++i) {
    clients.push_back(NewSocket((*listener)->address()));
    ConnectFrom(clients.back().get(), (*listener)->address());
  }
  EXPECT_TRUE(harness_.Until([&] { return accepted_ == 150; }));
}

TEST_F(TcpListenerTest, WhoHasConnectedBeforeCloseIsAccepted) {
  const auto listener = Listen(kAnywhere);
  ASSERT_TRUE(listener.ok());
  std::vector<UniqueFd> clients;
  for (int i = 0; i < 5; ++i) {
    clients.push_back(NewSocket((*listener)->address()));
    ConnectFrom(clients.back().get(), (*listener)->address());
  }
  (*listener)->Close();
  EXPECT_EQ(accepted_, 5);
}

TEST_F(TcpListenerTest, CloseNeedsNoTurnOfTheLoop) {
  std::vector<UniqueFd> clients;
  const auto listener = Listen(kAnywhere);
  ASSERT_TRUE(listener.ok());
  for (int i = 0; i < 5; ++i) {
    clients.push_back(NewSocket((*listener)->address()));
    ConnectFrom(clients.back().get(), (*listener)->address());
  }
  // With a task that waits, the loop gets one more, and still has the socket.
  for (size_t i = 0; i < harness_.loops().size(); ++i) harness_.loops().at(i).Post([] {});
  (*listener)->Close();
  EXPECT_EQ(Listen((*listener)->address()).status(), absl::OkStatus());
  harness_.Settle();
  EXPECT_EQ(accepted_, 0);
}

// Whichever loop is just taking them, for itself or for another.
TEST(TcpListenerThreadsTest, WhoHasConnectedBeforeCloseIsAccepted) {
  TcpHarness<DrivenHarness> harness(Address::Ipv4({127, 0, 0, 1}, 0));
  for (int round = 0; round < 200; ++round) {
    std::atomic<int> accepted{0};
    auto listener =
        harness.transport().Listen(harness.loops(), harness.FreeAddress(), ListenOptions(),
                                   [&](EventLoop&, std::unique_ptr<Connection>) { ++accepted; });
    ASSERT_TRUE(listener.ok());
    std::vector<UniqueFd> clients;
    for (int i = 0; i < 3; ++i) {
      clients.push_back(NewSocket((*listener)->address()));
      ConnectFrom(clients.back().get(), (*listener)->address());
    }
    // At each stage of the loops' work.
    const TimePoint connected = SteadyClock().Now();
    while (SteadyClock().Now() - connected < std::chrono::microseconds(round % 100)) {
    }
    const TimePoint begin = SteadyClock().Now();
    (*listener)->Close();
    // Loops that have no time for it are not waited for longer.
    const bool in_time = SteadyClock().Now() - begin < std::chrono::seconds(1);
    EXPECT_TRUE(accepted == 3 || !in_time) << "round " << round << ": " << accepted;
    harness.Settle();
  }
}

// Connections come in on loops with threads of their own while the listener is closed.
TEST(TcpListenerThreadsTest, NoOnAcceptAfterClose) {
  TcpHarness<DrivenHarness> harness(Address::Ipv4({127, 0, 0, 1}, 0));
  for (int round = 0; round < 30; ++round) {
    std::atomic<bool> closed{false};
    std::atomic<int> accepted{0};
    std::atomic<int> late{0};
    auto listener =
        harness.transport().Listen(harness.loops(), harness.FreeAddress(), ListenOptions(),
                                   [&](EventLoop&, std::unique_ptr<Connection>) {
                                     ++accepted;
                                     if (closed) ++late;
                                   });
    ASSERT_TRUE(listener.ok());
    const Address address = (*listener)->address();
    std::atomic<bool> stop{false};
    std::thread dialer([&] {
      while (!stop) {
        const UniqueFd fd = NewSocket(address);
        ConnectFrom(fd.get(), address);
      }
    });
    EXPECT_TRUE(harness.Until([&] { return accepted >= 3; }));
    (*listener)->Close();
    closed = true;
    stop = true;
    dialer.join();
    harness.Settle();
    EXPECT_EQ(late, 0);
  }
}

}  // namespace
}  // namespace farcall
