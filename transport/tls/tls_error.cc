// SPDX-License-Identifier: Apache-2.0

#include "transport/tls/tls_error.h"

#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/tls1.h>

#include <algorithm>
#include <array>

#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "transport/tls/certificate_text.h"

namespace farcall {
namespace {

// Content types of records, RFC 8446 section 5.1.
constexpr char kAlertRecord = 21;
constexpr char kHandshakeRecord = 22;
constexpr int kNoAlert = -1;

// The alert that the peer sent, if that is what failed.
int AlertOf(const OpenSslError& error) {
  const bool alert = error.library == ERR_LIB_SSL && error.reason >= SSL_AD_REASON_OFFSET;
  return alert ? error.reason - SSL_AD_REASON_OFFSET : kNoAlert;
}

// "" where the name of the alert says it all.
absl::string_view CureFor(int alert, bool server) {
  switch (alert) {
    case SSL_AD_UNKNOWN_CA:
      return "the peer does not trust the CA of the certificate that this end shows: name that CA "
             "in files.ca there";
    case SSL_AD_BAD_CERTIFICATE:
    case SSL_AD_UNSUPPORTED_CERTIFICATE:
    case SSL_AD_CERTIFICATE_UNKNOWN:
    case SSL_AD_CERTIFICATE_REVOKED:
      return "the peer refuses the certificate that this end shows; its log says more";
    case SSL_AD_CERTIFICATE_EXPIRED:
      return "the certificate that this end shows has expired: renew it";
    case SSL_AD_HANDSHAKE_FAILURE:
    case TLS13_AD_CERTIFICATE_REQUIRED:
      return server ? "" : "the peer may want a client certificate (mutual TLS): name one in files";
    case TLS1_AD_NO_APPLICATION_PROTOCOL:
      return "the peer knows none of the protocols in ClientTlsOptions::alpn";
    case SSL_AD_PROTOCOL_VERSION:
      return "the ends have no version of TLS in common, or one of them speaks none; this end has "
             "1.2 and 1.3";
    default:
      return "";
  }
}

absl::Status NoTls(const TlsFailure& failure) {
  const std::string bytes = absl::CHexEscape(failure.first_bytes);
  if (failure.server) {
    return absl::InvalidArgumentError(
        absl::StrCat("this port speaks TLS, and the peer does not: its first bytes are \"", bytes,
                     "\"; set ChannelOptions::tls there"));
  }
  return absl::UnauthenticatedError(
      absl::StrCat("the peer does not speak TLS: its first bytes are \"", bytes,
                   "\"; set ServerOptions::tls there"));
}

}  // namespace

bool IsTls(absl::string_view first_bytes) {
  return first_bytes.empty() || first_bytes[0] == kHandshakeRecord ||
         (first_bytes[0] == kAlertRecord && (first_bytes.size() < 2 || first_bytes[1] == 3));
}

absl::Status ToStatus(const TlsFailure& failure) {
  const absl::string_view when = failure.handshake ? "TLS handshake failed: " : "TLS failed: ";
  const auto verify_failed = [&] {
    return failure.error.library == ERR_LIB_SSL &&
           failure.error.reason == SSL_R_CERTIFICATE_VERIFY_FAILED;
  };
  if (verify_failed() && !failure.certificate.empty()) {
    return absl::UnauthenticatedError(
        absl::StrCat(when, "certificate verify failed: ", failure.certificate));
  }
  if (const int alert = AlertOf(failure.error); alert != kNoAlert) {
    const absl::string_view cure = CureFor(alert, failure.server);
    return absl::UnauthenticatedError(absl::StrCat(when, "the peer refuses: ", failure.error.text,
                                                   cure.empty() ? "" : "; ", cure));
  }
  if (failure.handshake && !IsTls(failure.first_bytes)) return NoTls(failure);
  const absl::string_view cure =
      failure.error.library == ERR_LIB_SSL &&
              failure.error.reason == SSL_R_PEER_DID_NOT_RETURN_A_CERTIFICATE
          ? "; require_client_certificate is on: the client names its own in files"
          : "";
  if (failure.handshake) {
    return absl::UnauthenticatedError(absl::StrCat(when, failure.error.text, cure));
  }
  return absl::DataLossError(absl::StrCat(when, failure.error.text));
}

std::string ExplainCertificate(X509_STORE_CTX* store, absl::string_view name) {
  const int error = X509_STORE_CTX_get_error(store);
  X509* const certificate = X509_STORE_CTX_get_current_cert(store);
  if (certificate == nullptr) return X509_verify_cert_error_string(error);
  const std::string subject = SubjectOf(*certificate);
  switch (error) {
    case X509_V_ERR_CERT_HAS_EXPIRED:
      return absl::StrCat(subject, " expired on ", TimeText(X509_get0_notAfter(certificate)),
                          ": renew it at the peer");
    case X509_V_ERR_CERT_NOT_YET_VALID:
      return absl::StrCat(subject, " is not valid before ",
                          TimeText(X509_get0_notBefore(certificate)),
                          ": are the clocks of both hosts right?");
    case X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT:
      return absl::StrCat(subject,
                          " is self-signed and not trusted here: name it in files.ca, or a CA that "
                          "signs it");
    case X509_V_ERR_SELF_SIGNED_CERT_IN_CHAIN:
    case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT:
    case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY:
    case X509_V_ERR_UNABLE_TO_VERIFY_LEAF_SIGNATURE:
      return absl::StrCat(subject, ", signed by ", IssuerOf(*certificate),
                          ", leads to no CA that is trusted here: name that CA in files.ca (",
                          X509_verify_cert_error_string(error), ")");
    case X509_V_ERR_HOSTNAME_MISMATCH:
    case X509_V_ERR_IP_ADDRESS_MISMATCH:
      return absl::StrCat(subject, " is for ", absl::StrJoin(NamesOf(*certificate), ", "),
                          ", not for ", name, " (",
                          error == X509_V_ERR_HOSTNAME_MISMATCH ? "hostname" : "IP address",
                          " mismatch): call it by such a name, or set "
                          "ClientTlsOptions::server_name");
    default:
      return absl::StrCat(subject, ": ", X509_verify_cert_error_string(error));
  }
}

std::string AnswerToNoTls(absl::string_view first_bytes) {
  constexpr std::array<absl::string_view, 6> kMethods = {"GET ", "POST ",    "HEAD ",
                                                         "PUT ", "OPTIONS ", "DELETE "};
  const bool http = std::any_of(kMethods.begin(), kMethods.end(), [&](absl::string_view method) {
    return absl::StartsWith(first_bytes, method.substr(0, first_bytes.size()));
  });
  if (http && first_bytes.size() >= 4) {
    constexpr absl::string_view kText = "this port speaks TLS: use https\n";
    return absl::StrCat(
        "HTTP/1.1 400 Bad Request\r\nContent-Type: text/plain\r\nConnection: close\r\n"
        "Content-Length: ",
        kText.size(), "\r\n\r\n", kText);
  }
  // A fatal alert, protocol_version, RFC 8446 section 6: others know TLS by it.
  return std::string("\x15\x03\x01\x00\x02\x02\x46", 7);
}

}  // namespace farcall
