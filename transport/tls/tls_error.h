// SPDX-License-Identifier: Apache-2.0
//
// What went wrong with TLS, in words that name the cure.

#ifndef FARCALL_TRANSPORT_TLS_TLS_ERROR_H_
#define FARCALL_TRANSPORT_TLS_TLS_ERROR_H_

#include <openssl/x509_vfy.h>

#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "transport/tls/openssl_error.h"

namespace farcall {

// What is known about a handshake or a connection that failed.
struct TlsFailure {
  OpenSslError error;
  bool server = false;      // this end
  bool handshake = false;   // it was not over
  std::string certificate;  // ExplainCertificate; "" if none was refused here
  std::string first_bytes;  // of the peer, up to 8
};

// kUnauthenticated: one of the ends refuses the other, and would do so again.
absl::Status ToStatus(const TlsFailure& failure);

// Why `store` refuses the certificate that it looks at. `name`: who was called, "" at a server.
std::string ExplainCertificate(X509_STORE_CTX* store, absl::string_view name);

// What a server says to a peer that speaks no TLS, as well as it can be said to such a one.
std::string AnswerToNoTls(absl::string_view first_bytes);
// Whether bytes that a connection begins with are TLS: a handshake, or an alert.
bool IsTls(absl::string_view first_bytes);

}  // namespace farcall

#endif  // FARCALL_TRANSPORT_TLS_TLS_ERROR_H_
