// SPDX-License-Identifier: Apache-2.0

#include "transport/tls/loaded_context.h"

#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "transport/tls/testing/test_certificates.h"

namespace farcall {
namespace {

void ExpectError(const absl::Status& status, std::initializer_list<std::string> parts) {
  EXPECT_FALSE(status.ok());
  for (const std::string& part : parts) {
    EXPECT_TRUE(absl::StrContains(status.message(), part)) << part << " is not in: " << status;
  }
}

TEST(LoadedContextTest, GoodFilesLoad) {
  TestCa ca;
  EXPECT_TRUE(LoadServerContext(ca.Server()).ok());
  EXPECT_TRUE(LoadClientContext(ca.Client()).ok());
  ServerTlsOptions mutual = ca.Server();
  mutual.require_client_certificate = true;
  EXPECT_TRUE(LoadServerContext(mutual).ok());
}

TEST(LoadedContextTest, TheSystemsStoreServesAClientThatNamesNoCa) {
  EXPECT_TRUE(LoadClientContext(ClientTlsOptions()).ok());
}

TEST(LoadedContextTest, AFileThatIsNotThereIsNamed) {
  TestCa ca;
  for (std::string TlsFiles::*file :
       {&TlsFiles::certificate, &TlsFiles::private_key, &TlsFiles::ca}) {
    ServerTlsOptions options = ca.Server();
    options.require_client_certificate = true;
    options.files.*file = "/nowhere/file.pem";
    ExpectError(LoadServerContext(options).status(),
                {"/nowhere/file.pem", "No such file or directory"});
  }
}

TEST(LoadedContextTest, AKeyOfAnotherPairIsToldWithBothFiles) {
  TestCa ca;
  ServerTlsOptions options = ca.Server();
  options.files.private_key = ca.Issue("other").private_key;
  ExpectError(LoadServerContext(options).status(),
              {options.files.private_key, "does not match", options.files.certificate});
}

TEST(LoadedContextTest, FilesWithSomethingElseInThemAreNamedWithACure) {
  TestCa ca;
  ServerTlsOptions options = ca.Server();
  ReplaceFile(options.files.certificate, "hello");
  ExpectError(LoadServerContext(options).status(),
              {options.files.certificate, "no start line", "chain in PEM"});
  options = ca.Server();
  ReplaceFile(options.files.private_key, "hello");
  ExpectError(LoadServerContext(options).status(), {options.files.private_key, "in PEM"});
  options = ca.Server();
  options.require_client_certificate = true;
  ReplaceFile(ca.file(), "hello");
  ExpectError(LoadServerContext(options).status(), {ca.file(), "in PEM"});
}

// It would ask the terminal, and so hang a server.
TEST(LoadedContextTest, AKeyWithAPassphraseIsRefused) {
  TestCa ca;
  ServerTlsOptions options = ca.Server();
  ca.Encrypt(options.files.private_key);
  ExpectError(LoadServerContext(options).status(),
              {options.files.private_key, "without a passphrase"});
}

TEST(LoadedContextTest, NothingIsLeftInTheErrorQueueOfTheThread) {
  TestCa ca;
  ServerTlsOptions options = ca.Server();
  options.files.private_key = ca.Issue("other").private_key;
  EXPECT_FALSE(LoadServerContext(options).ok());
  EXPECT_TRUE(LoadServerContext(ca.Server()).ok());
}

}  // namespace
}  // namespace farcall
