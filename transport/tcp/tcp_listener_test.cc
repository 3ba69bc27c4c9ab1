// SPDX-License-Identifier: Apache-2.0

#include "transport/tcp/tcp_listener.h"

#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "transport/sockaddr.h"
#include "transport/tcp/socket_options.h"
#include "transport/tcp/testing/blocked_listener.h"
#include "transport/tcp/testing/fd_limit.h"
#include "transport/tcp/testing/tcp_harness.h"
#include "transport/testing/driven_harness.h"
#include "transport/testing/stepped_harness.h"
#include "transport/testing/temp_dir.h"

namespace farcall {
namespace {

// A socket that is not connected yet, so that connecting takes no descriptor.
UniqueFd NewSocket(const Address& to) {
  auto fd = OpenStreamSocket(ToSocketAddress(to)->family());
  EXPECT_TRUE(fd.ok());
  return *std::move(fd);
}

void ConnectFrom(int fd, const Address& to) {
  const auto address = ToSocketAddress(to);
  const bool connected = ::connect(fd, address->get(), address->length) == 0;
  EXPECT_TRUE(connected || errno == EINPROGRESS);
}

class TcpListenerTest : public testing::Test {
 protected:
  TcpListenerTest() : harness_(kAnywhere) {}

  absl::StatusOr<std::unique_ptr<Listener>> Listen(const Address& address) {
    return TcpListener::Open(harness_.loops(), address, ListenOptions(), harness_.pool(), log_,
                             [this](EventLoop&, std::unique_ptr<Connection> connection) {
                               ++accepted_;
                               peer_ = connection->info().peer;
                               local_ = connection->info().local;
                             });
  }
  bool Accepts(const Address& to) {
    const int before = accepted_;
    const UniqueFd fd = NewSocket(to);
    ConnectFrom(fd.get(), to);
    return harness_.Until([&] { return accepted_ > before; });
  }
  Address UnixAddress(absl::string_view name) {
    return *Address::Unix(absl::StrCat(dir_.path(), "/", name));
  }

  const Address kAnywhere = Address::Ipv4({127, 0, 0, 1}, 0);
  TempDir dir_;
  TcpHarness<SteppedHarness> harness_;
  std::vector<std::string> logged_;
  const EpisodeLog::Sink log_ = [this](absl::string_view line) { logged_.emplace_back(line); };
  int accepted_ = 0;
  Address peer_;
  Address local_;
};

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

TEST_F(TcpListenerTest, RunningOutOfDescriptorsIsSurvived) {
  const auto listener = Listen(kAnywhere);
  ASSERT_TRUE(listener.ok());
  const Address address = (*listener)->address();
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
    const bool in_time = SteadyClock().Now() - begin < std::chrono::milliseconds(100);
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
