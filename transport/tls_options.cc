// SPDX-License-Identifier: Apache-2.0

#include "transport/tls_options.h"

#include "absl/strings/str_cat.h"

namespace farcall {
namespace {

// RFC 7301 section 3.1.
constexpr size_t kMaxProtocolName = 255;
constexpr size_t kMaxProtocols = 16;

absl::Status CheckPair(const TlsFiles& files) {
  if (files.certificate.empty() != files.private_key.empty()) {
    return absl::InvalidArgumentError(
        "tls: a certificate and its private key go together; one of them is not named");
  }
  if (files.reload_interval < Duration::zero()) {
    return absl::InvalidArgumentError("tls: reload_interval must not be negative");
  }
  return absl::OkStatus();
}

absl::Status CheckAlpn(const std::vector<std::string>& alpn) {
  if (alpn.size() > kMaxProtocols) {
    return absl::InvalidArgumentError(
        absl::StrCat("tls: at most ", kMaxProtocols, " ALPN protocols, not ", alpn.size()));
  }
  for (const std::string& name : alpn) {
    if (name.empty() || name.size() > kMaxProtocolName) {
      return absl::InvalidArgumentError(absl::StrCat(
          "tls: an ALPN protocol has 1 to ", kMaxProtocolName, " bytes, not ", name.size()));
    }
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status ClientTlsOptions::Validate() const {
  if (absl::Status status = CheckPair(files); !status.ok()) return status;
  return CheckAlpn(alpn);
}

absl::Status ServerTlsOptions::Validate() const {
  if (files.certificate.empty() || files.private_key.empty()) {
    return absl::InvalidArgumentError("tls: a server needs a certificate and its private key");
  }
  if (require_client_certificate && files.ca.empty()) {
    return absl::InvalidArgumentError(
        "tls: require_client_certificate needs files.ca, which signs the clients");
  }
  if (handshake_timeout <= Duration::zero()) {
    return absl::InvalidArgumentError("tls: handshake_timeout must be above 0");
  }
  if (absl::Status status = CheckPair(files); !status.ok()) return status;
  return CheckAlpn(alpn);
}

}  // namespace farcall
