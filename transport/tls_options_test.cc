// SPDX-License-Identifier: Apache-2.0

#include "transport/tls_options.h"

#include <string>

#include "absl/strings/match.h"
#include "gtest/gtest.h"

namespace farcall {
namespace {

void ExpectInvalid(const absl::Status& status, const std::string& part) {
  EXPECT_TRUE(absl::IsInvalidArgument(status)) << status;
  EXPECT_TRUE(absl::StrContains(status.message(), part)) << status;
}

ServerTlsOptions Good() {
  ServerTlsOptions options;
  options.files.certificate = "server.pem";
  options.files.private_key = "server.key";
  return options;
}

TEST(TlsOptionsTest, DefaultsOfAClientAreValid) {
  EXPECT_TRUE(ClientTlsOptions().Validate().ok());
  EXPECT_TRUE(Good().Validate().ok());
}

TEST(TlsOptionsTest, AServerNeedsAPair) {
  EXPECT_TRUE(absl::IsInvalidArgument(ServerTlsOptions().Validate()));
  for (std::string TlsFiles::*file : {&TlsFiles::certificate, &TlsFiles::private_key}) {
    ServerTlsOptions options = Good();
    options.files.*file = "";
    ExpectInvalid(options.Validate(), "a certificate and its private key");
  }
}

TEST(TlsOptionsTest, AClientMayHaveAPairButNoHalfOfOne) {
  ClientTlsOptions options;
  options.files.certificate = "client.pem";
  ExpectInvalid(options.Validate(), "go together");
  options.files.private_key = "client.key";
  EXPECT_TRUE(options.Validate().ok());
}

TEST(TlsOptionsTest, MutualTlsNeedsACa) {
  ServerTlsOptions options = Good();
  options.require_client_certificate = true;
  ExpectInvalid(options.Validate(), "files.ca");
  options.files.ca = "ca.pem";
  EXPECT_TRUE(options.Validate().ok());
}

TEST(TlsOptionsTest, TimesHaveBounds) {
  ServerTlsOptions options = Good();
  options.handshake_timeout = Duration::zero();
  ExpectInvalid(options.Validate(), "handshake_timeout");
  options = Good();
  options.files.reload_interval = -std::chrono::seconds(1);
  ExpectInvalid(options.Validate(), "reload_interval");
  options.files.reload_interval = Duration::zero();
  EXPECT_TRUE(options.Validate().ok());
}

TEST(TlsOptionsTest, NamesOfProtocolsHaveBounds) {
  ClientTlsOptions options;
  options.alpn = {std::string(255, 'a')};
  EXPECT_TRUE(options.Validate().ok());
  options.alpn = {std::string(256, 'a')};
  ExpectInvalid(options.Validate(), "1 to 255 bytes");
  options.alpn = {""};
  ExpectInvalid(options.Validate(), "1 to 255 bytes");
  options.alpn.assign(17, "a");
  ExpectInvalid(options.Validate(), "at most 16");
  options.alpn.clear();
  EXPECT_TRUE(options.Validate().ok());
}

}  // namespace
}  // namespace farcall
