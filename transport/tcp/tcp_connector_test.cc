// SPDX-License-Identifier: Apache-2.0

#include "transport/tcp/tcp_connector.h"

#include <memory>
#include <optional>
#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "transport/tcp/testing/blocked_listener.h"
#include "transport/tcp/testing/fd_limit.h"
#include "transport/tcp/testing/tcp_harness.h"
#include "transport/testing/conformance/stepped_harness.h"
#include "transport/testing/temp_dir.h"

namespace farcall {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

class TcpConnectorTest : public testing::Test {
 protected:
  TcpConnectorTest() : harness_(kAnywhere), loop_(harness_.loops().at(0)) {}

  void Start(const Address& peer, Duration timeout = seconds(10)) {
    ConnectOptions options;
    options.timeout = timeout;
    result_.reset();
    harness_.Run(loop_, [&] {
      TcpConnector::Start(loop_, harness_.pool(), peer, options,
                          [this](absl::StatusOr<std::unique_ptr<Connection>> connection) {
                            result_ = connection.status();
                          });
      EXPECT_FALSE(result_.has_value());
    });
  }
  absl::Status Connect(const Address& peer, Duration timeout = seconds(10)) {
    Start(peer, timeout);
    EXPECT_TRUE(harness_.Until([&] { return result_.has_value(); }));
    return result_.value_or(absl::InternalError("OnConnect was not called"));
  }
  Address UnixAddress(absl::string_view name) {
    return *Address::Unix(absl::StrCat(dir_.path(), "/", name));
  }

  const Address kAnywhere = Address::Ipv4({127, 0, 0, 1}, 0);
  TempDir dir_;
  TcpHarness<SteppedHarness> harness_;
  EventLoop& loop_;
  std::optional<absl::Status> result_;
};

TEST_F(TcpConnectorTest, RefusalNamesThePeerAndTheCause) {
  const Address closed = ClosedAddress(kAnywhere);
  const absl::Status status = Connect(closed);
  EXPECT_EQ(status.code(), absl::StatusCode::kUnavailable);
  EXPECT_EQ(status.message(),
            absl::StrCat("cannot connect to ", closed.ToString(), ": Connection refused"));
}

TEST_F(TcpConnectorTest, AMissingUnixSocketIsNamed) {
  const absl::Status status = Connect(UnixAddress("nobody"));
  EXPECT_TRUE(absl::StrContains(status.message(), "/nobody: No such file or directory")) << status;
}

TEST_F(TcpConnectorTest, AStaleUnixSocketRefuses) {
  const absl::Status status = Connect(ClosedAddress(UnixAddress("stale")));
  EXPECT_TRUE(absl::StrContains(status.message(), "/stale: Connection refused")) << status;
}

TEST_F(TcpConnectorTest, SilenceEndsWithTheTimeout) {
  const BlockedListener silent(kAnywhere);
  const absl::Status status = Connect(silent.address(), milliseconds(30));
  EXPECT_EQ(status.code(), absl::StatusCode::kDeadlineExceeded);
  EXPECT_EQ(status.message(), absl::StrCat("cannot connect to ", silent.address().ToString(),
                                           ": no answer within 30ms"));
}

TEST_F(TcpConnectorTest, ABusyUnixListenerIsWaitedFor) {
  BlockedListener busy(UnixAddress("busy"));
  Start(busy.address());
  for (int i = 0; i < 100; ++i) loop_.RunOnce();
  EXPECT_FALSE(result_.has_value());
  busy.Unblock();
  EXPECT_TRUE(harness_.Until([&] { return result_.has_value(); }));
  EXPECT_TRUE(result_->ok()) << *result_;
}

TEST_F(TcpConnectorTest, ABusyUnixListenerIsNotWaitedForForEver) {
  const BlockedListener busy(UnixAddress("busy"));
  EXPECT_EQ(Connect(busy.address(), milliseconds(30)).code(), absl::StatusCode::kDeadlineExceeded);
}

TEST_F(TcpConnectorTest, OutOfDescriptorsIsAnError) {
  const Address closed = ClosedAddress(kAnywhere);
  // UBSan takes descriptors to look at a type that it has not seen yet.
  Connect(closed).IgnoreError();
  {
    const FdLimit none_left;
    Start(closed);
  }
  ASSERT_TRUE(harness_.Until([&] { return result_.has_value(); }));
  EXPECT_EQ(result_->code(), absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(result_->message(),
            absl::StrCat("cannot connect to ", closed.ToString(), ": Too many open files"));
}

TEST_F(TcpConnectorTest, AnUnreachableNetworkIsAnErrorAtOnce) {
  // The limited broadcast address takes no connections.
  const absl::Status status = Connect(Address::Ipv4({255, 255, 255, 255}, 1));
  EXPECT_TRUE(absl::StartsWith(status.message(), "cannot connect to 255.255.255.255:1: "))
      << status;
}

}  // namespace
}  // namespace farcall
