// SPDX-License-Identifier: Apache-2.0

#include "rpc/session/client/introduction.h"

#include <chrono>

#include "absl/strings/str_cat.h"
#include "rpc/exception_text.h"
#include "rpc/session/rdma_wanted.h"

namespace farcall {

absl::StatusOr<std::string> CredentialOf(const Authenticator& auth) {
  absl::StatusOr<std::string> credential;
  const auto thrown = ExceptionTextOf([&] { credential = auth.GenerateCredential(); });
  if (thrown) return absl::InternalError(absl::StrCat("ChannelOptions::auth threw: ", *thrown));
  return credential;
}

ConnectOptions ToConnectOptions(const ClientSession::Environment& environment,
                                const Target& target) {
  const ChannelOptions& options = environment.options;
  ConnectOptions connect;
  connect.timeout = std::chrono::milliseconds(options.connect_timeout_ms);
  connect.connection.traffic_class = options.traffic_class;
  connect.rdma = RdmaWanted(options);
  connect.peers_may_be_brpc = options.rdma_peers_may_be_brpc;
  connect.tls = environment.tls;
  connect.tls_name = target.host;
  connect.tls_forbids_rdma = TlsForbidsRdma(options);
  if (options.auth != nullptr) {
    // Without one the first request, which bears one too, says why there is none.
    connect.credential = [auth = options.auth] { return CredentialOf(*auth).value_or(""); };
  }
  return connect;
}

}  // namespace farcall
