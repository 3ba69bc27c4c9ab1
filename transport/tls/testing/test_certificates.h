// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_TRANSPORT_TLS_TESTING_TEST_CERTIFICATES_H_
#define FARCALL_TRANSPORT_TLS_TESTING_TEST_CERTIFICATES_H_

#include <memory>
#include <string>

#include "absl/strings/string_view.h"
#include "transport/testing/temp_dir.h"
#include "transport/tls/openssl_ptr.h"
#include "transport/tls_options.h"

namespace farcall {

// What a certificate is to be like.
struct TestLeaf {
  std::string subject = "server";  // its CN
  // "DNS:name" and "IP:address", comma between; empty: none.
  std::string names = "DNS:localhost,DNS:server.test,IP:127.0.0.1,IP:::1,IP:10.0.0.1";
  int days = 30;    // from yesterday on; below 0: it expired
  int padding = 0;  // bytes of a comment in it, to make it large
};

// A CA and what it signed, as files in PEM in a directory of its own. One thread.
class TestCa {
 public:
  explicit TestCa(const std::string& name = "test CA");

  // The CA's own certificate.
  std::string file() const { return dir_.path() + "/ca.pem"; }
  // A pair, in files called NAME.pem and NAME.key; those that have the name already are replaced,
  // the way that a deployment does it: by rename(2).
  TlsFiles Issue(const std::string& name, const TestLeaf& leaf = {});
  // The same, but signed by its own key.
  TlsFiles SelfSigned(const std::string& name, const TestLeaf& leaf = {});
  // Puts another key there, behind a passphrase.
  void Encrypt(const std::string& key_file) const;

  // For a client that trusts this CA; for a server with a new pair of it.
  ClientTlsOptions Client() const;
  ServerTlsOptions Server(const TestLeaf& leaf = {});

 private:
  TlsFiles Write(const std::string& name, const X509& certificate, EVP_PKEY& key) const;

  const TempDir dir_;
  UniqueKey key_;
  UniqueX509 certificate_;
  int issued_ = 0;
};

// Writes `text` to `file` at once, as rename(2) does.
void ReplaceFile(const std::string& file, absl::string_view text);

}  // namespace farcall

#endif  // FARCALL_TRANSPORT_TLS_TESTING_TEST_CERTIFICATES_H_
