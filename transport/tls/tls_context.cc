// SPDX-License-Identifier: Apache-2.0

#include "transport/tls/tls_context.h"

namespace farcall {

absl::StatusOr<std::shared_ptr<TlsClientContext>> LoadTls(const ClientTlsOptions& options,
                                                          TlsLog log) {
  if (absl::Status valid = options.Validate(); !valid.ok()) return valid;
  auto context = ReloadingContext::Create(
      options.files, [options] { return LoadClientContext(options); }, std::move(log));
  if (!context.ok()) return context.status();
  return std::make_shared<OpenSslClientContext>(options, *std::move(context));
}

absl::StatusOr<std::shared_ptr<TlsServerContext>> LoadTls(const ServerTlsOptions& options,
                                                          TlsLog log) {
  if (absl::Status valid = options.Validate(); !valid.ok()) return valid;
  auto context = ReloadingContext::Create(
      options.files, [options] { return LoadServerContext(options); }, std::move(log));
  if (!context.ok()) return context.status();
  return std::make_shared<OpenSslServerContext>(options, *std::move(context));
}

}  // namespace farcall
