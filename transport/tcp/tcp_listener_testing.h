// SPDX-License-Identifier: Apache-2.0
//
// For tests of listeners: what connects to them, and one whose loops the test turns.

#ifndef FARCALL_TRANSPORT_TCP_TCP_LISTENER_TESTING_H_
#define FARCALL_TRANSPORT_TCP_TCP_LISTENER_TESTING_H_

#include <gtest/gtest.h>
#include <sys/socket.h>

#include <cerrno>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "transport/base/unique_fd.h"
#include "transport/sockaddr.h"
#include "transport/tcp/socket_options.h"
#include "transport/tcp/tcp_listener.h"
#include "transport/tcp/testing/tcp_harness.h"
#include "transport/testing/conformance/stepped_harness.h"
#include "transport/testing/temp_dir.h"

namespace farcall {

// A socket that is not connected yet, so that connecting takes no descriptor.
inline UniqueFd NewSocket(const Address& to) {
  auto fd = OpenStreamSocket(ToSocketAddress(to)->family());
  EXPECT_TRUE(fd.ok());
  return *std::move(fd);
}

inline void ConnectFrom(int fd, const Address& to) {
  const auto address = ToSocketAddress(to);
  const bool connected = ::connect(fd, address->get(), address->length) == 0;
  EXPECT_TRUE(connected || errno == EINPROGRESS);
}

class TcpListenerTest : public ::testing::Test {
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

}  // namespace farcall

#endif  // FARCALL_TRANSPORT_TCP_TCP_LISTENER_TESTING_H_
