// SPDX-License-Identifier: Apache-2.0
//
// Peers that want a server's memory, time or connections: each gets a bounded part of it and an
// error or a close with a reason, and a healthy client beside them notices nothing.

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "gtest/gtest.h"
#include "rpc/testing/eventually.h"
#include "rpc/testing/healthy_client.h"
#include "rpc/testing/leaping_runtime.h"
#include "rpc/testing/process_resources.h"
#include "rpc/testing/raw_peer.h"
#include "rpc/testing/test_peers.h"
#include "rpc/wire/pack.h"
#include "transport/base/sanitizer.h"

namespace farcall {
namespace {

constexpr size_t kMiB = size_t{1} << 20;
// Of this process, for a connection that says nothing, both of its ends; sanitizers take some
// bytes of their own for each.
constexpr size_t kBytesOfAPeer = kSanitized ? 64 << 10 : 16 << 10;

// A server that loses patience when the test says so, and a healthy client of it.
class HostileTest : public ::testing::Test {
 protected:
  static ServerOptions Impatient() {
    ServerOptions options;
    options.read_timeout_ms = 60'000;
    options.idle_timeout_ms = -1;
    options.max_body_size = kMiB;
    return options;
  }
  void Serve(ServerOptions options) {
    options.runtime = &*runtime_;
    server_ = std::make_unique<TestServer>(EchoBack, options);
    ChannelOptions patient = Patient();
    patient.timeout_ms = 3'600'000;  // the server counts it by its own clock
    healthy_ = std::make_unique<HealthyClient>(server_->address(), patient);
    ASSERT_TRUE(healthy_->Serves());
  }
  ~HostileTest() override {
    EXPECT_TRUE(healthy_->Serves()) << "to the end";
    EXPECT_EQ(healthy_->hurt(), 0);
    EXPECT_TRUE(Eventually([&] { return server_->server().connection_count() == 1; }))
        << "only the healthy one is left";
    healthy_->Stop();
    EXPECT_TRUE(Eventually([&] { return runtime_.used_bytes() == 0; })) << "memory comes home";
  }
  // In time: the healthy client's connection is the only one.
  [[nodiscard]] bool OthersAreClosed() {
    return runtime_.LeapUntil([&] { return server_->server().connection_count() == 1; });
  }
  // The answer to what `peer` sends.
  static std::optional<Frame> Ask(RawPeer& peer, const std::string& bytes) {
    EXPECT_TRUE(peer.Send(bytes));
    return peer.Receive();
  }

  LeapingRuntime runtime_;
  std::unique_ptr<TestServer> server_;
  std::unique_ptr<HealthyClient> healthy_;
};

TEST_F(HostileTest, DecompressionBombs) {
  Serve(Impatient());
  test::EchoRequest zeros;
  zeros.set_message(std::string(16 * kMiB, '\0'));
  const Buffer none;
  for (const CompressType type :
       {COMPRESS_TYPE_SNAPPY, COMPRESS_TYPE_GZIP, COMPRESS_TYPE_ZLIB, COMPRESS_TYPE_LZ4}) {
    SCOPED_TRACE(type);
    wire::RpcMeta meta = EchoMeta(1);
    const auto bomb = Pack(zeros, {.compress = type}, none, runtime_.pool(), meta);
    ASSERT_TRUE(bomb.ok()) << bomb.status();
    ASSERT_LT(bomb->size(), kMiB - 1000) << "it passes as a frame";
    const auto encoder = FrameEncoder::Create(meta, *bomb, 0);
    std::string bytes(encoder->head_size(), '\0');
    encoder->WriteTo(bytes.data());
    bytes += bomb->ToString();
    RawPeer peer(server_->address());
    const auto answer = Ask(peer, bytes);
    ASSERT_TRUE(answer.has_value());
    EXPECT_EQ(answer->meta.response().error_code(), kBadRequest);
    EXPECT_TRUE(absl::StrContains(answer->meta.response().error_text(), "1048576"))
        << answer->meta.response().error_text();
    const auto next = Ask(peer, EchoFrame(2));
    ASSERT_TRUE(next.has_value()) << "the connection goes on";
    EXPECT_EQ(next->meta.response().error_code(), 0);
  }
}

// What a header says is the peer's word: memory is taken for what has come.
TEST_F(HostileTest, AnnouncedBodiesOf4GiB) {
  ServerOptions options = Impatient();
  options.max_body_size = UINT32_MAX;
  Serve(options);
  std::vector<RawPeer> peers;
  for (int i = 0; i < 50; ++i) {
    peers.emplace_back(server_->address());
    ASSERT_TRUE(peers.back().Send(HeaderBytes(UINT32_MAX, 100) + std::string(1000, 'x')));
  }
  EXPECT_TRUE(Eventually([&] { return server_->server().connection_count() == 51; }));
  EXPECT_LT(runtime_.used_bytes(), 64 * kMiB);
  EXPECT_TRUE(OthersAreClosed());
  for (RawPeer& peer : peers) EXPECT_TRUE(peer.WaitForEnd());
  EXPECT_TRUE(runtime_.log().Wait("closed: a request was not complete within read_timeout_ms"));
}

TEST_F(HostileTest, OneByteAtATime) {
  Serve(Impatient());
  RawPeer peer(server_->address());
  const std::string frame = EchoFrame(1, std::string(10'000, 'x'));
  // It would take three hours, and is not given them.
  size_t sent = 0;
  while (sent < frame.size() && peer.Send(absl::string_view(frame).substr(sent, 1))) {
    runtime_.Leap(std::chrono::seconds(1));
    ++sent;
  }
  EXPECT_LT(sent, frame.size());
  EXPECT_TRUE(runtime_.log().Wait("closed: a request was not complete"));
  EXPECT_TRUE(OthersAreClosed());
}

TEST_F(HostileTest, APeerThatNeverReads) {
  ServerOptions options = Impatient();
  options.handler_threads = 0;
  Serve(options);
  RawPeer peer(server_->address());
  peer.LimitReceiveBuffer(16 << 10);
  test::EchoRequest request;
  request.set_message("never read");
  const std::string frame = FrameBytes(EchoMeta(1), &request, std::string(kMiB / 2, 'x'));
  EXPECT_TRUE(runtime_.LeapUntil([&] {
    // No time passes while the server still reads: it would miss the rest of a request.
    while (peer.SendOver(frame)) runtime_.Leap(Duration::zero());
    return runtime_.log().Count("closed: it read nothing of its answers") > 0;
  })) << runtime_.log().All();
  EXPECT_LT(runtime_.used_bytes(), 64 * kMiB);
}

TEST_F(HostileTest, ConnectionsBeyondTheLimit) {
  ServerOptions options = Impatient();
  options.max_connections = 4;
  options.read_timeout_ms = -1;
  Serve(options);
  std::vector<RawPeer> peers;
  for (int i = 0; i < 3; ++i) {
    peers.emplace_back(server_->address());
    ASSERT_TRUE(Ask(peers.back(), EchoFrame(1)).has_value());
  }
  for (int i = 0; i < 20; ++i) {
    RawPeer late(server_->address());
    EXPECT_TRUE(late.WaitForEnd());
  }
  EXPECT_EQ(runtime_.log().Count("max_connections 4 is reached"), 1);
  for (RawPeer& peer : peers) EXPECT_TRUE(Ask(peer, EchoFrame(2)).has_value());
  peers.pop_back();
  // There is room again.
  EXPECT_TRUE(Eventually([&] {
    RawPeer peer(server_->address());
    return peer.Send(EchoFrame(3)) && peer.Receive().has_value();
  }));
}

// As many descriptors as this process may have, while it lives.
class AllFiles {
 public:
  AllFiles() {
    EXPECT_EQ(::getrlimit(RLIMIT_NOFILE, &before_), 0);
    rlimit all = before_;
    all.rlim_cur = all.rlim_max;
    EXPECT_EQ(::setrlimit(RLIMIT_NOFILE, &all), 0);
  }
  AllFiles(const AllFiles&) = delete;
  AllFiles& operator=(const AllFiles&) = delete;
  ~AllFiles() { EXPECT_EQ(::setrlimit(RLIMIT_NOFILE, &before_), 0); }

  // Both ends are in this process.
  size_t peers() const { return std::min<size_t>(2000, before_.rlim_max / 2 - 200); }

 private:
  rlimit before_{};
};

TEST_F(HostileTest, ThousandsOfSilentConnectionsCostLittle) {
  const AllFiles files;
  const size_t many = files.peers();
  ServerOptions options = Impatient();
  options.read_timeout_ms = -1;
  Serve(options);
  const size_t before = ResidentBytes();
  std::vector<RawPeer> peers;
  for (size_t i = 0; i < many; ++i) peers.emplace_back(server_->address());
  EXPECT_TRUE(Eventually(
      [&] { return server_->server().connection_count() == static_cast<int>(many) + 1; }));
  // Sessions and sockets, and no blocks.
  EXPECT_LT(ResidentBytes(), before + many * kBytesOfAPeer);
  EXPECT_LT(runtime_.used_bytes(), kMiB);
  EXPECT_TRUE(healthy_->Serves());
}

TEST_F(HostileTest, ThousandsOfSilentConnectionsAreClosed) {
  const AllFiles files;
  const size_t many = files.peers();
  Serve(Impatient());
  std::vector<RawPeer> peers;
  for (size_t i = 0; i < many; ++i) peers.emplace_back(server_->address());
  ASSERT_TRUE(Eventually(
      [&] { return server_->server().connection_count() == static_cast<int>(many) + 1; }));
  EXPECT_TRUE(OthersAreClosed());
  for (RawPeer& peer : peers) ASSERT_TRUE(peer.WaitForEnd());
  EXPECT_TRUE(runtime_.log().Wait("closed: it sent nothing within read_timeout_ms"));
  EXPECT_LT(runtime_.log().Count("closed: it sent nothing"), 200) << "the log is no victim either";
}

}  // namespace
}  // namespace farcall
