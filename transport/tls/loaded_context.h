// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_TRANSPORT_TLS_LOADED_CONTEXT_H_
#define FARCALL_TRANSPORT_TLS_LOADED_CONTEXT_H_

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "transport/tls/openssl_ptr.h"
#include "transport/tls_options.h"

namespace farcall {

// What the options and the files say, as OpenSSL wants it. Immutable; any thread. A connection
// keeps that of its beginning.
struct LoadedContext {
  std::string alpn;  // ours, each name behind its length, RFC 7301 section 3.1
  UniqueSslCtx ctx;  // may refer to alpn
};

// Read the files, which may block. Errors name the file, OpenSSL's reason and the cure.
absl::StatusOr<std::shared_ptr<const LoadedContext>> LoadClientContext(
    const ClientTlsOptions& options);
absl::StatusOr<std::shared_ptr<const LoadedContext>> LoadServerContext(
    const ServerTlsOptions& options);

}  // namespace farcall

#endif  // FARCALL_TRANSPORT_TLS_LOADED_CONTEXT_H_
