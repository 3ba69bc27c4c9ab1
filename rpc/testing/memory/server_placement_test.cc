// SPDX-License-Identifier: Apache-2.0
//
// Attachments of requests in the service's own memory, over sockets.

#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "rpc/testing/eventually.h"
#include "rpc/testing/large_attachments.h"
#include "rpc/testing/placing_service.h"
#include "rpc/testing/raw_peer.h"
#include "rpc/testing/test_call.h"
#include "rpc/testing/test_peers.h"
#include "transport/tls/testing/test_certificates.h"

namespace farcall {
namespace {

// What is read ahead at first, when nothing is known of the peer's requests, and later.
constexpr uint64_t kFirstReadAhead = 8 << 10;
constexpr uint64_t kReadAhead = 512;

ServerOptions On(TestRuntime& runtime, ServerOptions options = LargeBodiesServer()) {
  options.runtime = &*runtime;
  return options;
}

class ServerPlacementTest : public testing::Test {
 protected:
  static constexpr size_t kPlace = 4 * kMiB;

  void Serve(const ServerOptions& options = LargeBodiesServer()) {
    server_ = std::make_unique<TestServer>(
        PutInto(service_, [](const Buffer& got) { return IsPattern(got, got.size()); }),
        On(runtime_, options), "127.0.0.1:0", ServiceOptions{.attachment_placer = &service_});
  }
  ~ServerPlacementTest() override {
    server_.reset();
    EXPECT_TRUE(service_.all_back());
    EXPECT_TRUE(service_.Sound());
  }
  // The answer to a put of `bytes`.
  static std::string Put(TestClient& client, size_t bytes) {
    TestCall call("put");
    call.controller.request_attachment().Append(PatternBytes(bytes));
    call.Call(client.channel());
    return call.controller.Failed() ? call.Error() : call.response.message();
  }
  uint64_t NotLanded() { return (*runtime_).copied_bytes()[CopyCause::kNotLanded]; }

  TestRuntime runtime_;
  PlacingService service_{*runtime_, 4, kPlace};
  std::unique_ptr<TestServer> server_;
};

TEST_F(ServerPlacementTest, OfEverySizeTheyLieInTheServicesMemory) {
  Serve();
  TestClient client(server_->address(), LargeBodies());
  for (const size_t size : {size_t{1}, size_t{4096}, size_t{8192}, size_t{65536}, size_t{100'000},
                            kMiB + 1, 3 * kMiB}) {
    EXPECT_EQ(Put(client, size), "placed") << size;
  }
  EXPECT_EQ(Put(client, 0), "put") << "nothing to place";
  EXPECT_EQ(service_.ended(), std::vector<absl::Status>(7));
}

TEST_F(ServerPlacementTest, OnlyWhatIsReadAheadIsCopied) {
  Serve();
  TestClient client(server_->address(), LargeBodies());
  for (const size_t size : {64 << 10, 1 << 20, 4 << 20}) {
    for (int i = 0; i < 5; ++i) {
      const uint64_t before = NotLanded();
      EXPECT_EQ(Put(client, size), "placed");
      EXPECT_LE(NotLanded() - before, i == 0 ? kFirstReadAhead : kReadAhead) << size << " " << i;
    }
  }
  // And no block of the pool is taken for the rest.
  EXPECT_LT(runtime_.used_bytes(), kMiB);
}

TEST_F(ServerPlacementTest, OverTlsTheyAreCopiedOnce) {
  TestCa ca;
  ServerOptions server_options = LargeBodiesServer();
  server_options.tls = std::make_shared<const ServerTlsOptions>(ca.Server());
  ChannelOptions options = LargeBodies();
  options.tls = std::make_shared<const ClientTlsOptions>(ca.Client());
  Serve(server_options);
  TestClient client(server_->address(), options);
  EXPECT_EQ(Put(client, kMiB), "placed");
  EXPECT_EQ(NotLanded(), kMiB);
}

TEST_F(ServerPlacementTest, ChecksumsAndCompressionGoWithIt) {
  Serve();
  ChannelOptions options = LargeBodies();
  options.request_checksum_type = CHECKSUM_TYPE_CRC32C;
  options.request_compress_type = COMPRESS_TYPE_GZIP;
  TestClient client(server_->address(), options);
  EXPECT_EQ(Put(client, kMiB), "placed");
}

TEST_F(ServerPlacementTest, OnHandlerThreadsToo) {
  ServerOptions options = OnPool();
  options.max_body_size = 8 * kMiB;
  Serve(options);
  TestClient client(server_->address(), LargeBodies());
  for (int i = 0; i < 5; ++i) EXPECT_EQ(Put(client, kMiB), "placed");
}

TEST_F(ServerPlacementTest, WhatIsTooLargeIsRefusedAndTheConnectionGoesOn) {
  Serve();
  TestClient client(server_->address(), LargeBodies());
  EXPECT_EQ(Put(client, kPlace + 1), "1003 too large");
  EXPECT_EQ(Put(client, kPlace), "placed");
  EXPECT_EQ(service_.ended().size(), 1u);
}

// While one waits for its place, calls on other connections go on.
TEST_F(ServerPlacementTest, APlaceMayBeSaidLaterByAnyThread) {
  Serve();
  TestClient client(server_->address(), LargeBodies());
  TestClient other(server_->address());
  service_.later = true;
  TestCall call("put");
  call.controller.request_attachment().Append(PatternBytes(2 * kMiB));
  call.Start(client.channel());
  ASSERT_TRUE(Eventually([&] { return service_.waiting() == 1; }));
  EXPECT_EQ(Put(other, 0), "put");
  EXPECT_EQ(call.ends(), 0);
  EXPECT_LT(runtime_.used_bytes(), kMiB) << "the rest waits in the socket";
  service_.Go();
  ASSERT_TRUE(call.Wait());
  EXPECT_EQ(call.response.message(), "placed") << call.Error();
}

// By its deadline, by a connection that breaks, and by both at once; whatever has come by then.
TEST_F(ServerPlacementTest, WhatEndsMidwayGivesItsPlaceBack) {
  Serve();
  wire::RpcMeta meta = EchoMeta(1);
  const std::string bytes = PatternBytes(100'000);
  test::EchoRequest request;
  request.set_message("put");
  for (int i = 0; i < 20; ++i) {
    if (i % 2 == 1) meta.mutable_request()->set_timeout_ms(5);
    const std::string frame = FrameBytes(meta, &request, bytes);
    RawPeer peer(server_->address());
    ASSERT_TRUE(peer.Send(frame.substr(0, frame.size() - 1 - static_cast<size_t>(i) * 5000)));
    const auto all = static_cast<size_t>(i) + 1;
    if (i % 2 == 1) {
      ASSERT_TRUE(Eventually([&] { return service_.ended().size() == all; }));
      EXPECT_TRUE(absl::IsDeadlineExceeded(service_.ended().back())) << service_.ended().back();
      const auto answer = peer.Receive();
      ASSERT_TRUE(answer.has_value());
      EXPECT_EQ(answer->meta.response().error_code(), kRpcTimedOut);
    }
    peer.Close();
    ASSERT_TRUE(Eventually([&] { return service_.ended().size() == all; }));
    EXPECT_FALSE(service_.ended().back().ok());
  }
  EXPECT_EQ(server_->service().runs(), 0);
}

// Calls end while their requests are on the way: nothing is written to their places from then on,
// which ThreadSanitizer would see, too.
TEST_F(ServerPlacementTest, BackupRequestsDeadlinesAndCancellationsLeaveNoPlaceBehind) {
  Serve();
  ChannelOptions options = LargeBodies();
  options.backup_request_ms = 1;
  options.retry_budget = 10;
  options.connection_type = CONNECTION_TYPE_POOLED;
  TestClient client(server_->address(), options);
  const std::string bytes = PatternBytes(2 * kMiB);
  int placed = 0;
  for (int i = 0; i < 30; ++i) {
    TestCall call("put");
    call.controller.request_attachment().AppendUserData(bytes.data(), bytes.size(), nullptr);
    call.controller.set_timeout_ms(i % 5 == 0 ? -1 : 1 + i % 4);
    call.Start(client.channel());
    if (i % 10 == 9) call.controller.StartCancel();
    ASSERT_TRUE(call.Wait());
    if (!call.controller.Failed()) {
      placed += call.response.message() == "placed";
      EXPECT_NE(call.response.message(), "wrong");
    }
    EXPECT_TRUE(service_.Sound());
  }
  EXPECT_GE(placed, 3);
  client.Destroy();
}

// What waits for a place when the server goes is given back, also where the placer never answers.
TEST_F(ServerPlacementTest, AServerThatEndsWaitsForNoPlace) {
  Serve();
  TestClient client(server_->address(), LargeBodies());
  service_.later = true;
  TestCall call("put");
  call.controller.request_attachment().Append(PatternBytes(2 * kMiB));
  call.Start(client.channel());
  ASSERT_TRUE(Eventually([&] { return service_.waiting() == 1; }));
  server_.reset();
  ASSERT_TRUE(call.Wait());
  EXPECT_TRUE(call.controller.Failed());
  service_.Go();
  EXPECT_TRUE(absl::IsCancelled(service_.ended().at(0))) << service_.ended().at(0);
}

}  // namespace
}  // namespace farcall
