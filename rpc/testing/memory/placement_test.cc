// SPDX-License-Identifier: Apache-2.0
//
// Attachments of answers in the caller's own memory, over sockets.

#include <algorithm>
#include <atomic>
#include <chrono>
#include <string>
#include <utility>

#include "gtest/gtest.h"
#include "rpc/testing/eventually.h"
#include "rpc/testing/large_attachments.h"
#include "rpc/testing/test_call.h"
#include "rpc/testing/test_peers.h"
#include "transport/tls/testing/test_certificates.h"

namespace farcall {
namespace {

// What a reader may have read before it knew of a place: what one read offers to small messages.
constexpr uint64_t kReadAhead = 80 << 10;

std::span<std::byte> BytesOf(std::string& text) {
  return {reinterpret_cast<std::byte*>(text.data()), text.size()};
}

// Answers with as many bytes of the pattern as the message says.
void Give(Controller& controller, const test::EchoRequest& request, test::EchoResponse& response,
          google::protobuf::Closure* done) {
  response.set_message(request.message());
  controller.response_attachment().Append(PatternBytes(std::stoul(request.message())));
  done->Run();
}

// Asks for `bytes` of attachment, and expects them in `memory`.
void Get(TestClient& client, const RegisteredMemory& memory, size_t bytes) {
  std::memset(memory.memory().data(), 0, memory.size());
  TestCall call(std::to_string(bytes));
  call.controller.set_response_attachment_memory(memory.Slice(0, memory.size()));
  ASSERT_TRUE(call.Call(client.channel()).Echoed()) << call.Error();
  const Buffer& got = call.controller.response_attachment();
  ASSERT_TRUE(IsPattern(got, bytes)) << bytes;
  if (bytes == 0) return;
  ASSERT_EQ(got.slices().size(), 1u);
  EXPECT_EQ(static_cast<const void*>(got.slices()[0].view().data()), memory.memory().data());
}

uint64_t NotLanded(TestClient& client) {
  return (*client.runtime()).copied_bytes()[CopyCause::kNotLanded];
}

TEST(PlacementTest, OfEverySizeTheyLieInTheCallersMemory) {
  TestServer server(Give);
  TestClient client(server.address());
  std::string bytes(3 * kMiB, '\0');
  const RegisteredMemory memory = *(*client.runtime()).RegisterMemory(BytesOf(bytes));
  for (const size_t size :
       {size_t{0}, size_t{1}, size_t{4095}, size_t{8192}, size_t{100'000}, kMiB + 1, 3 * kMiB}) {
    Get(client, memory, size);
  }
}

TEST(PlacementTest, OnlyWhatWasReadAheadIsCopied) {
  TestServer server(Give);
  TestClient client(server.address());
  std::string bytes(8 * kMiB, '\0');
  const RegisteredMemory memory = *(*client.runtime()).RegisterMemory(BytesOf(bytes));
  for (int i = 0; i < 5; ++i) {
    const uint64_t before = NotLanded(client);
    Get(client, memory, bytes.size());
    EXPECT_LE(NotLanded(client) - before, kReadAhead);
  }
  // And no block of the pool is taken for the rest.
  EXPECT_LT(client.runtime().used_bytes(), kMiB);
}

TEST(PlacementTest, OverTlsTheyAreCopiedOnce) {
  TestCa ca;
  ServerOptions server_options;
  server_options.tls = std::make_shared<const ServerTlsOptions>(ca.Server());
  ChannelOptions options = Patient();
  options.tls = std::make_shared<const ClientTlsOptions>(ca.Client());
  TestServer server(Give, server_options);
  TestClient client(server.address(), options);
  std::string bytes(kMiB, '\0');
  const RegisteredMemory memory = *(*client.runtime()).RegisterMemory(BytesOf(bytes));
  Get(client, memory, bytes.size());
  EXPECT_EQ(NotLanded(client), bytes.size());
}

TEST(PlacementTest, ChecksumsAndCompressionGoWithIt) {
  TestServer server(Give);
  ChannelOptions options = Patient();
  options.request_checksum_type = CHECKSUM_TYPE_CRC32C;
  options.request_compress_type = COMPRESS_TYPE_GZIP;
  TestClient client(server.address(), options);
  std::string bytes(kMiB, '\0');
  const RegisteredMemory memory = *(*client.runtime()).RegisterMemory(BytesOf(bytes));
  Get(client, memory, bytes.size());
  EXPECT_LE(NotLanded(client), kReadAhead);
}

TEST(PlacementTest, WhatIsTooLongFailsTheCallAndLeavesTheMemory) {
  TestServer server(Give);
  TestClient client(server.address());
  std::string bytes(kMiB, 'x');
  const RegisteredMemory memory = *(*client.runtime()).RegisterMemory(BytesOf(bytes));
  TestCall call(std::to_string(kMiB + 1));
  call.controller.set_response_attachment_memory(memory.Slice(0, kMiB));
  call.Call(client.channel());
  EXPECT_EQ(call.controller.ErrorCode(), kBadResponse);
  EXPECT_EQ(bytes, std::string(kMiB, 'x'));
  Get(client, memory, kMiB);
}

TEST(PlacementTest, TheHandleMayGoWhileACallIsUnderWay) {
  TestServer server(Give);
  TestClient client(server.address());
  std::string bytes(kMiB, '\0');
  std::atomic<int> released{0};
  RegisteredMemory memory =
      *(*client.runtime()).RegisterMemory(BytesOf(bytes), [&] { ++released; });
  TestCall call(std::to_string(kMiB));
  call.controller.set_response_attachment_memory(memory.Slice(0, kMiB));
  call.Start(client.channel());
  memory = {};
  ASSERT_TRUE(call.Wait());
  EXPECT_TRUE(call.Echoed()) << call.Error();
  EXPECT_EQ(released, 0);
  EXPECT_TRUE(IsPattern(call.controller.response_attachment(), kMiB));
  call.controller.response_attachment().Clear();
  EXPECT_TRUE(Eventually([&] { return released == 1; }));
}

// Calls end while their answers come, by deadlines that are too short, cancellations, and answers
// to the other of two requests. From then on only its owner writes to their memory,
// which ThreadSanitizer would see, too.
TEST(PlacementTest, OnceACallHasEndedItsMemoryIsItsOwners) {
  TestServer server(Give);
  ChannelOptions options = Patient();
  options.backup_request_ms = 1;
  options.retry_budget = 10;
  options.connection_type = CONNECTION_TYPE_POOLED;
  TestClient client(server.address(), options);
  std::string bytes(kMiB, '\0');
  const RegisteredMemory memory = *(*client.runtime()).RegisterMemory(BytesOf(bytes));
  int succeeded = 0;
  for (int i = 0; i < 30; ++i) {
    TestCall call(std::to_string(bytes.size()));
    call.controller.set_timeout_ms(i % 10 == 0 ? -1 : 1 + i % 4);
    call.controller.set_response_attachment_memory(memory.Slice(0, memory.size()));
    call.Start(client.channel());
    if (i % 10 == 9) call.controller.StartCancel();
    ASSERT_TRUE(call.Wait());
    if (!call.controller.Failed()) {
      ++succeeded;
      ASSERT_TRUE(IsPattern(call.controller.response_attachment(), bytes.size()));
    }
    const char mark = static_cast<char>('a' + i % 26);
    std::fill(bytes.begin(), bytes.end(), mark);
    // Another call, whose answer comes behind what still comes of the last.
    TestCall next("1000");
    ASSERT_TRUE(next.Call(client.channel()).Echoed()) << next.Error();
    ASSERT_EQ(bytes.find_first_not_of(mark), std::string::npos) << "call " << i;
  }
  EXPECT_GE(succeeded, 3);
}

}  // namespace
}  // namespace farcall
