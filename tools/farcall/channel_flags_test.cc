// SPDX-License-Identifier: Apache-2.0
//
// The options of the program that say how calls travel, as a server sees them.

#include <cstdlib>
#include <fstream>
#include <future>
#include <mutex>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "rpc/interceptor.h"
#include "rpc/runtime/server.h"
#include "rpc/testing/raw_peer.h"
#include "tools/farcall/program_testing.h"
#include "transport/tls/testing/test_certificates.h"

namespace farcall::cli {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::StartsWith;

constexpr char kCall[] = "Reflection.ListServices";
constexpr char kAnswer[] = "{\"service\":[\"farcall.Reflection\"]}\n";

// Remembers how the last call came.
class Watcher final : public ServerInterceptor {
 public:
  bool OnRequest(const google::protobuf::MethodDescriptor&, Controller& controller,
                 const google::protobuf::Message&) override {
    const std::lock_guard<std::mutex> lock(mutex_);
    last_ = *controller.connection();
    return true;
  }
  ConnectionInfo last() {
    const std::lock_guard<std::mutex> lock(mutex_);
    return last_;
  }

 private:
  std::mutex mutex_;
  ConnectionInfo last_;  // guarded by mutex_
};

// A server of nothing but farcall.Reflection.
class Peer {
 public:
  Peer() : Peer(nullptr) {}
  explicit Peer(const ServerTlsOptions& tls)
      : Peer(std::make_shared<const ServerTlsOptions>(tls)) {}
  const std::string& target() const { return target_; }
  ConnectionInfo last() { return watcher_->last(); }

 private:
  explicit Peer(std::shared_ptr<const ServerTlsOptions> tls) {
    ServerOptions options;
    options.tls = std::move(tls);
    options.interceptors = {watcher_};
    const absl::Status started = server_.Start("127.0.0.1:0", options);
    EXPECT_TRUE(started.ok()) << started;
    target_ = server_.listen_address().ToString();
  }

  const std::shared_ptr<Watcher> watcher_ = std::make_shared<Watcher>();
  Server server_;
  std::string target_;
};

// `farcall call`, the simplest one.
Outcome Call(const std::string& target, const std::vector<std::string>& flags) {
  std::vector<std::string> arguments = {"call", target, kCall, "--compact"};
  arguments.insert(arguments.end(), flags.begin(), flags.end());
  return Outcome(arguments);
}

void ExpectAnswer(const Outcome& outcome) {
  EXPECT_EQ(outcome.code, kSuccess) << outcome.err;
  EXPECT_EQ(outcome.out, kAnswer);
}

// `code`: kNoConnection where there was none, kCallFailed where it broke before the answer.
void ExpectFails(const Outcome& outcome, int code, const char* why) {
  EXPECT_EQ(outcome.code, code);
  EXPECT_EQ(outcome.out, "");
  EXPECT_THAT(outcome.err, AllOf(StartsWith("farcall: "), HasSubstr(why)));
}

// The meta of a call as it is sent, to a server that hangs up on it.
wire::RpcMeta SentWith(const std::string& flag) {
  const std::string proto = testing::TempDir() + "/channel_flags.proto";
  std::ofstream(proto) << "syntax = \"proto2\"; message Text { optional string text = 1; }"
                          "service Sink { rpc Take(Text) returns (Text); }";
  RawListener listener;
  std::future<std::optional<Frame>> received =
      std::async(std::launch::async, [&listener] { return listener.Accept().Receive(); });
  const Outcome outcome({"call", listener.address(), "Sink.Take", "{\"text\": \"some text\"}",
                         "--proto", proto, flag});
  EXPECT_EQ(outcome.code, kCallFailed) << outcome.err;
  const std::optional<Frame> frame = received.get();
  return frame ? frame->meta : wire::RpcMeta();
}

TEST(ChannelFlagsTest, CompressAndChecksumAreOnTheWire) {
  const wire::RpcMeta plain = SentWith("--max_retry=0");
  EXPECT_EQ(plain.request().method_name(), "Take");
  EXPECT_EQ(plain.compress_type(), COMPRESS_TYPE_NONE);
  EXPECT_EQ(plain.checksum_type(), CHECKSUM_TYPE_NONE);
  EXPECT_EQ(SentWith("--compress=none").compress_type(), COMPRESS_TYPE_NONE);
  EXPECT_EQ(SentWith("--compress=snappy").compress_type(), COMPRESS_TYPE_SNAPPY);
  EXPECT_EQ(SentWith("--compress=gzip").compress_type(), COMPRESS_TYPE_GZIP);
  EXPECT_EQ(SentWith("--compress=zlib").compress_type(), COMPRESS_TYPE_ZLIB);
  EXPECT_EQ(SentWith("--compress=lz4").compress_type(), COMPRESS_TYPE_LZ4);
  const wire::RpcMeta summed = SentWith("--checksum");
  EXPECT_EQ(summed.checksum_type(), CHECKSUM_TYPE_CRC32C);
  EXPECT_EQ(summed.checksum_value().size(), 4u);
}

TEST(ChannelFlagsTest, AnswersComeBackCompressedAndSummed) {
  Peer peer;
  for (const char* name : {"none", "snappy", "gzip", "zlib", "lz4"}) {
    ExpectAnswer(Call(peer.target(), {"--compress", name, "--checksum"}));
  }
}

// A server with TLS whose certificate is for 127.0.0.1 and server.test, among others.
class TlsFlagsTest : public testing::Test {
 protected:
  TestCa ca_;
  Peer peer_{ca_.Server()};
};

TEST_F(TlsFlagsTest, EachCommandTrustsTheCaThatIsNamed) {
  ExpectAnswer(Call(peer_.target(), {"--tls_ca", ca_.file()}));
  EXPECT_THAT(peer_.last().tls, StartsWith("TLSv1.3 "));
  EXPECT_EQ(peer_.last().tls_peer, "");
  const Outcome list({"list", peer_.target(), "--tls-ca", ca_.file()});
  EXPECT_EQ(list.code, kSuccess) << list.err;
  const Outcome press({"press", peer_.target(), kCall, "--duration=20ms", "--tls-ca", ca_.file()});
  EXPECT_EQ(press.code, kSuccess) << press.err;
  EXPECT_THAT(press.out, HasSubstr(" 0 failed\n"));
}

TEST_F(TlsFlagsTest, WithoutACaThoseOfTheSystemCount) {
  ExpectFails(Call(peer_.target(), {"--tls"}), kNoConnection, "certificate verify failed");
  // How OpenSSL is told of another store.
  ASSERT_EQ(setenv("SSL_CERT_FILE", ca_.file().c_str(), /*overwrite=*/1), 0);
  ExpectAnswer(Call(peer_.target(), {"--tls"}));
  unsetenv("SSL_CERT_FILE");
}

TEST_F(TlsFlagsTest, InsecureTakesAnyCertificate) {
  ExpectAnswer(Call(peer_.target(), {"--tls_insecure"}));
  EXPECT_THAT(peer_.last().tls, StartsWith("TLSv1.3 "));
}

TEST_F(TlsFlagsTest, TheNameIsWhatTheCertificateMustBear) {
  ExpectAnswer(Call(peer_.target(), {"--tls_ca", ca_.file(), "--tls_name", "server.test"}));
  ExpectFails(Call(peer_.target(), {"--tls_ca", ca_.file(), "--tls_name", "other.test"}),
              kNoConnection, "not for other.test");
}

TEST_F(TlsFlagsTest, WithoutTlsAServerThatWantsItHangsUp) {
  ExpectFails(Call(peer_.target(), {}), kCallFailed, "TLS");
}

TEST_F(TlsFlagsTest, WithTlsAServerThatHasNoneIsNotReached) {
  Peer plain;
  ExpectFails(Call(plain.target(), {"--tls_ca", ca_.file()}), kNoConnection, "TLS");
}

TEST_F(TlsFlagsTest, FilesThatDoNotLoadAreNamed) {
  ExpectFails(Call(peer_.target(), {"--tls_ca", "/nowhere/ca.pem"}), kCallFailed,
              "/nowhere/ca.pem");
  ExpectFails(Call(peer_.target(), {"--tls_cert", "/nowhere/own.pem", "--tls_key", ca_.file()}),
              kCallFailed, "/nowhere/own.pem");
  ExpectFails(Call(peer_.target(), {"--tls_cert", ca_.file()}), kBadArguments,
              "a certificate and its private key go together");
}

TEST(MutualTlsFlagsTest, CertificateAndKeySayWhoCalls) {
  TestCa ca;
  ServerTlsOptions tls = ca.Server();
  tls.require_client_certificate = true;
  Peer peer(tls);
  ExpectFails(Call(peer.target(), {"--tls_ca", ca.file()}), kCallFailed, "certificate required");
  TestLeaf leaf;
  leaf.subject = "somebody";
  const TlsFiles files = ca.Issue("client", leaf);
  ExpectAnswer(Call(peer.target(), {"--tls_ca", ca.file(), "--tls_cert", files.certificate,
                                    "--tls_key", files.private_key}));
  EXPECT_EQ(peer.last().tls_peer, "/CN=somebody");
}

}  // namespace
}  // namespace farcall::cli
