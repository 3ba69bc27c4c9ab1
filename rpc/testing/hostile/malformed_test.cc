// SPDX-License-Identifier: Apache-2.0
//
// Peers that send what is no call: their own connection ends with a reason, or their
// request is answered with an error, and a healthy client beside them notices nothing.

#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "gtest/gtest.h"
#include "rpc/testing/eventually.h"
#include "rpc/testing/raw_peer.h"
#include "rpc/testing/test_call.h"
#include "rpc/testing/test_peers.h"
#include "transport/testing/test_random.h"
#include "transport/why_not_rdma.h"

namespace farcall {
namespace {

// A server, and a healthy client that calls it all the time.
class MalformedTest : public ::testing::Test {
 protected:
  MalformedTest() {
    healthy_ = std::thread([this] {
      while (!stop_) {
        TestCall call;
        if (!call.Call(client_.channel()).Echoed()) ++hurt_;
        ++calls_;
      }
    });
  }
  ~MalformedTest() override {
    const int before = calls_;
    EXPECT_TRUE(Eventually([&] { return calls_ > before + 1; })) << "it is served to the end";
    stop_ = true;
    healthy_.join();
    EXPECT_EQ(hurt_, 0) << "the healthy client noticed";
    EXPECT_TRUE(OnlyTheHealthyOneIsLeft());
  }

  // `bytes` end their connection, and the server's log says why.
  void ExpectClosed(absl::string_view bytes, absl::string_view reason) {
    RawPeer peer(server_.address());
    peer.Send(bytes);
    EXPECT_TRUE(peer.WaitForEnd()) << reason;
    // The server waits for the peer's own end, a while.
    peer.Close();
    EXPECT_TRUE(server_.log().Wait(reason)) << reason << "\n" << server_.log().All();
    EXPECT_GE(server_.log().Count("connection from 127.0.0.1:"), 1);
  }
  // The request is answered with `code` and the connection goes on.
  void ExpectAnswer(const wire::RpcMeta& meta, int code, absl::string_view text) {
    RawPeer peer(server_.address());
    test::EchoRequest request;
    request.set_message("hello");
    ASSERT_TRUE(peer.Send(FrameBytes(meta, &request)));
    const auto answer = peer.Receive();
    ASSERT_TRUE(answer.has_value());
    EXPECT_EQ(answer->meta.correlation_id(), meta.correlation_id());
    EXPECT_EQ(answer->meta.response().error_code(), code);
    EXPECT_TRUE(absl::StrContains(answer->meta.response().error_text(), text))
        << answer->meta.response().error_text();
    ASSERT_TRUE(peer.Send(EchoFrame(2)));
    const auto next = peer.Receive();
    ASSERT_TRUE(next.has_value());
    EXPECT_EQ(next->meta.response().error_code(), 0);
    peer.Close();
    EXPECT_TRUE(OnlyTheHealthyOneIsLeft());
  }
  bool OnlyTheHealthyOneIsLeft() {
    return Eventually([&] { return server_.server().connection_count() == 1; });
  }

  TestServer server_;

 private:
  TestClient client_{server_.address()};
  std::atomic<bool> stop_{false};
  std::atomic<int> calls_{0};
  std::atomic<int> hurt_{0};
  std::thread healthy_;
};

TEST_F(MalformedTest, AnotherProtocol) { ExpectClosed("SSH-2.0-x\r\n", "no RPC frame"); }

std::string BrpcRdmaHelloBytes() {
  return absl::HexStringToBytes("52444d4100280002000100001fe0008000800000") +
         absl::HexStringToBytes("00000000000000000000ffff0a00000100000011");
}

// This is no error: the client is answered to stay on TCP.
TEST_F(MalformedTest, TheRdmaHelloOfABrpcClient) {
  RawPeer peer(server_.address());
  ASSERT_TRUE(peer.Send(BrpcRdmaHelloBytes()));
  EXPECT_EQ(peer.ReceiveBytes(40),
            absl::HexStringToBytes("52444d410028ffff") + std::string(32, '\0'));
  ASSERT_TRUE(peer.Send(std::string(4, '\0') + EchoFrame(1)));
  const auto answer = peer.Receive();
  ASSERT_TRUE(answer.has_value());
  EXPECT_EQ(answer->meta.response().error_code(), 0);
  peer.Close();
  EXPECT_TRUE(OnlyTheHealthyOneIsLeft());
  ExpectClosed(BrpcRdmaHelloBytes() + BrpcRdmaHelloBytes(), "malformed RDMA handshake of brpc");
}

// A server that would speak RDMA with it, and has no device, says so in other words.
TEST(BrpcRdmaTest, AServerWithRdmaAndWithoutADeviceTellsItToStayOnTcp) {
  ServerOptions options;
  options.use_rdma = true;
  TestServer server(EchoBack, options);
  for (const size_t piece : {100, 1}) {
    RawPeer peer(server.address());
    const auto send = [&](const std::string& bytes) {
      for (size_t at = 0; at < bytes.size(); at += piece) {
        ASSERT_TRUE(peer.Send(bytes.substr(at, piece)));
      }
    };
    send(BrpcRdmaHelloBytes());
    EXPECT_EQ(peer.ReceiveBytes(40),
              absl::HexStringToBytes("52444d410028") + std::string(34, '\0'));
    send(std::string(4, '\0') + EchoFrame(1));
    const auto answer = peer.Receive();
    ASSERT_TRUE(answer.has_value());
    EXPECT_EQ(answer->meta.response().error_code(), 0);
  }
  const UpgradeCounts counts = (*server.runtime()).upgrade_counts();
  EXPECT_EQ(counts.fallbacks[static_cast<size_t>(WhyNotRdma::kPeerSilent)], 0u)
      << "it could not have said hello";
}

TEST_F(MalformedTest, GarbageAfterAGoodFrame) {
  RawPeer peer(server_.address());
  ASSERT_TRUE(peer.Send(EchoFrame(1)));
  EXPECT_TRUE(peer.Receive().has_value());
  ASSERT_TRUE(peer.Send("garbage"));
  EXPECT_TRUE(peer.WaitForEnd());
  peer.Close();
  EXPECT_TRUE(server_.log().Wait("no RPC frame"));
}

TEST_F(MalformedTest, ABodyFarOverTheLimit) {
  const std::string meta = EchoMeta(1).SerializeAsString();
  ExpectClosed(HeaderBytes(UINT32_MAX, static_cast<uint32_t>(meta.size())) + meta,
               "closed: a request of 4294967295 bytes is over max_body_size");
}

TEST_F(MalformedTest, AMetaLargerThanTheBody) {
  ExpectClosed(HeaderBytes(10, 11) + "0123456789", "is larger than its body");
}

TEST_F(MalformedTest, AMetaThatDoesNotParse) {
  ExpectClosed(HeaderBytes(10, 10) + std::string(10, '\xff'), "does not parse");
}

TEST_F(MalformedTest, AnAttachmentLargerThanTheRest) {
  wire::RpcMeta meta = EchoMeta(1);
  meta.set_attachment_size(1'000'000);
  const std::string bytes = meta.SerializeAsString();
  const auto size = static_cast<uint32_t>(bytes.size());
  ExpectClosed(HeaderBytes(size, size) + bytes, "attachment_size is 1000000");
}

TEST_F(MalformedTest, HalfAFrameAndThenNothing) {
  const std::string frame = EchoFrame(1, "a message");
  for (size_t cut = 1; cut < frame.size(); cut += 5) {
    RawPeer peer(server_.address());
    ASSERT_TRUE(peer.Send(frame.substr(0, cut)));
  }
  EXPECT_TRUE(OnlyTheHealthyOneIsLeft());
  EXPECT_EQ(server_.log().All(), "") << "a peer may go when it likes";
}

TEST_F(MalformedTest, AConnectionWithoutAByte) {
  { RawPeer peer(server_.address()); }
  EXPECT_TRUE(OnlyTheHealthyOneIsLeft());
  EXPECT_EQ(server_.log().All(), "");
}

TEST_F(MalformedTest, OneByteAtATimeIsNoMistake) {
  RawPeer peer(server_.address());
  const std::string frames = EchoFrame(1) + EchoFrame(2);
  for (const char byte : frames) ASSERT_TRUE(peer.Send(absl::string_view(&byte, 1)));
  for (int i = 0; i < 2; ++i) {
    const auto answer = peer.Receive();
    ASSERT_TRUE(answer.has_value());
    EXPECT_EQ(answer->meta.response().error_code(), 0);
  }
  peer.Close();
  EXPECT_TRUE(OnlyTheHealthyOneIsLeft());
}

TEST_F(MalformedTest, AFrameWithoutARequest) {
  wire::RpcMeta meta;
  meta.set_correlation_id(7);
  ExpectAnswer(meta, kBadRequest, "the meta has no request");
  meta.mutable_response()->set_error_code(0);
  ExpectAnswer(meta, kBadRequest, "the meta has no request");
}

TEST_F(MalformedTest, ARequestForNoServiceAtAll) {
  wire::RpcMeta meta;
  meta.mutable_request();
  ExpectAnswer(meta, kNoService, "no service \"\"");
}

TEST_F(MalformedTest, ACompressionThatIsNotThere) {
  wire::RpcMeta meta = EchoMeta(5);
  for (const int type : {5, 99, -1}) {
    meta.set_compress_type(type);
    ExpectAnswer(meta, kBadRequest, "compress_type");
  }
}

TEST_F(MalformedTest, BytesThatAreNotOfTheirCompression) {
  wire::RpcMeta meta = EchoMeta(5);
  for (const int type : {1, 2, 3, 4}) {
    meta.set_compress_type(type);
    ExpectAnswer(meta, kBadRequest, "payload of 7 bytes is malformed");
  }
}

TEST_F(MalformedTest, AWrongChecksum) {
  wire::RpcMeta meta = EchoMeta(5);
  meta.set_checksum_type(CHECKSUM_TYPE_CRC32C);
  meta.set_checksum_value("\x01\x02\x03\x04");
  ExpectAnswer(meta, kBadRequest, "checksum");
  meta.set_checksum_value("short");
  ExpectAnswer(meta, kBadRequest, "checksum");
  meta.set_checksum_type(77);
  ExpectAnswer(meta, kBadRequest, "checksum");
}

TEST_F(MalformedTest, AContentTypeThatIsNoProtobuf) {
  wire::RpcMeta meta = EchoMeta(5);
  for (const int type : {1, 2, 3, 99, -1}) {
    meta.set_content_type(type);
    ExpectAnswer(meta, kBadRequest, "content");
  }
}

TEST_F(MalformedTest, AMethodThatIsNotThere) {
  wire::RpcMeta meta = EchoMeta(5);
  meta.mutable_request()->set_method_name(std::string("Sh\x00ut\n", 6));
  ExpectAnswer(meta, kNoMethod, "has no method \"Sh\\x00ut\\n\"");
  meta.mutable_request()->set_method_name(std::string(100'000, 'x'));
  ExpectAnswer(meta, kNoMethod, "has no method \"xxx");
}

TEST_F(MalformedTest, ARequestThatLacksRequiredFields) {
  RawPeer peer(server_.address());
  ASSERT_TRUE(peer.Send(FrameBytes(EchoMeta(3), nullptr)));
  const auto answer = peer.Receive();
  ASSERT_TRUE(answer.has_value());
  EXPECT_EQ(answer->meta.response().error_code(), kBadRequest);
  EXPECT_TRUE(absl::StrContains(answer->meta.response().error_text(), "message"))
      << answer->meta.response().error_text();
}

TEST_F(MalformedTest, AnAttachmentBelowNothing) {
  wire::RpcMeta meta = EchoMeta(1);
  meta.set_attachment_size(-1);
  const std::string bytes = meta.SerializeAsString();
  const auto size = static_cast<uint32_t>(bytes.size());
  ExpectClosed(HeaderBytes(size, size) + bytes, "attachment_size is -1");
}

TEST_F(MalformedTest, AMetaOverItsLimit) {
  ExpectClosed(HeaderBytes(4 << 20, 2 << 20), "is over the limit");
}

TEST_F(MalformedTest, RandomDamageToGoodFrames) {
  TestRandom random(5);
  for (int round = 0; round < 60; ++round) {
    std::string bytes;
    for (int i = 1; i < 6; ++i) bytes += EchoFrame(i, std::string(random.Size(300), 'm'));
    const uint64_t flips = 1 + random.Below(4);
    for (uint64_t i = 0; i < flips; ++i) {
      bytes[random.Below(bytes.size())] ^= static_cast<char>(1 << random.Below(8));
    }
    RawPeer peer(server_.address());
    peer.Send(bytes);
    // What is still good among it is answered; none of it is waited for.
    while (random.Chance(0.5) && peer.Receive().has_value()) {
    }
  }
  EXPECT_TRUE(OnlyTheHealthyOneIsLeft());
}

}  // namespace
}  // namespace farcall
