// SPDX-License-Identifier: Apache-2.0
//
// Keys and certificates, loaded: what ConnectOptions::tls and ListenOptions::tls want.

#ifndef FARCALL_TRANSPORT_TLS_TLS_CONTEXT_H_
#define FARCALL_TRANSPORT_TLS_TLS_CONTEXT_H_

#include <memory>
#include <utility>

#include "absl/status/statusor.h"
#include "transport/tls/reloading_context.h"
#include "transport/tls_options.h"
#include "transport/transport.h"

namespace farcall {

// Any thread.
template <typename Context, typename Options>
class OpenSslContext final : public Context {
 public:
  OpenSslContext(Options options, std::unique_ptr<ReloadingContext> context)
      : options_(std::move(options)), context_(std::move(context)) {}

  const Options& options() const { return options_; }
  ReloadingContext& context() const { return *context_; }

 private:
  const Options options_;
  const std::unique_ptr<ReloadingContext> context_;
};

using OpenSslClientContext = OpenSslContext<TlsClientContext, ClientTlsOptions>;
using OpenSslServerContext = OpenSslContext<TlsServerContext, ServerTlsOptions>;

// Read the files, which may block. Errors name the file and the cure. `log`: see TlsLog.
absl::StatusOr<std::shared_ptr<TlsClientContext>> LoadTls(const ClientTlsOptions& options,
                                                          TlsLog log);
absl::StatusOr<std::shared_ptr<TlsServerContext>> LoadTls(const ServerTlsOptions& options,
                                                          TlsLog log);

}  // namespace farcall

#endif  // FARCALL_TRANSPORT_TLS_TLS_CONTEXT_H_
