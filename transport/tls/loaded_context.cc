// SPDX-License-Identifier: Apache-2.0

#include "transport/tls/loaded_context.h"

#include <openssl/err.h>
#include <openssl/pem.h>

#include <cerrno>
#include <cstdio>
#include <vector>

#include "absl/strings/str_cat.h"
#include "transport/base/errno_status.h"
#include "transport/tls/openssl_error.h"

namespace farcall {
namespace {

absl::Status Refused(absl::string_view what, const std::string& file, absl::string_view cure) {
  const OpenSslError error = OpenSslError::Take();
  return absl::InvalidArgumentError(
      absl::StrCat("tls: ", what, " ", file, " cannot be used: ", error.text, "; ", cure));
}

// OpenSSL's own words for a file that cannot be opened name no file.
absl::Status CheckReadable(absl::string_view what, const std::string& file) {
  if (std::FILE* const opened = std::fopen(file.c_str(), "re")) {
    std::fclose(opened);
    return absl::OkStatus();
  }
  return Annotate(ErrnoStatus(errno), absl::StrCat("tls: ", what, " ", file, " cannot be read"));
}

// A passphrase cannot be asked for; OpenSSL would ask the terminal.
int NoPassphrase(char*, int, int, void*) { return -1; }

absl::Status LoadPair(SSL_CTX* ctx, const TlsFiles& files) {
  if (files.certificate.empty()) return absl::OkStatus();
  if (absl::Status readable = CheckReadable("certificate", files.certificate); !readable.ok()) {
    return readable;
  }
  if (absl::Status readable = CheckReadable("private key", files.private_key); !readable.ok()) {
    return readable;
  }
  SSL_CTX_set_default_passwd_cb(ctx, NoPassphrase);
  if (SSL_CTX_use_certificate_chain_file(ctx, files.certificate.c_str()) != 1) {
    return Refused("certificate", files.certificate,
                   "it must hold the chain in PEM, the own certificate first");
  }
  if (SSL_CTX_use_PrivateKey_file(ctx, files.private_key.c_str(), SSL_FILETYPE_PEM) == 1 &&
      SSL_CTX_check_private_key(ctx) == 1) {
    return absl::OkStatus();
  }
  const unsigned long error = ERR_peek_error();
  const bool other_pair =
      ERR_GET_LIB(error) == ERR_LIB_X509 && (ERR_GET_REASON(error) == X509_R_KEY_VALUES_MISMATCH ||
                                             ERR_GET_REASON(error) == X509_R_KEY_TYPE_MISMATCH);
  if (!other_pair) {
    return Refused("private key", files.private_key, "it must be in PEM, without a passphrase");
  }
  ERR_clear_error();
  return absl::InvalidArgumentError(absl::StrCat("tls: private key ", files.private_key,
                                                 " does not match certificate ", files.certificate,
                                                 ": name two files that were made together"));
}

absl::Status LoadTrusted(SSL_CTX* ctx, const std::string& ca) {
  if (ca.empty()) {
    if (SSL_CTX_set_default_verify_paths(ctx) == 1) return absl::OkStatus();
    return Refused("the system's", "CA store", "install ca-certificates, or name files.ca");
  }
  if (absl::Status readable = CheckReadable("CA file", ca); !readable.ok()) return readable;
  if (SSL_CTX_load_verify_file(ctx, ca.c_str()) == 1) return absl::OkStatus();
  return Refused("CA file", ca, "it must hold certificates in PEM");
}

std::string EncodeAlpn(const std::vector<std::string>& names) {
  std::string wire;
  for (const std::string& name : names) {
    wire.push_back(static_cast<char>(name.size()));
    wire += name;
  }
  return wire;
}

// The first of ours that the client offers. A client that offers only others gets an alert, RFC
// 7301 section 3.2.
int SelectAlpn(SSL*, const unsigned char** chosen, unsigned char* length,
               const unsigned char* offered, unsigned int offered_length, void* context) {
  const std::string& ours = static_cast<const LoadedContext*>(context)->alpn;
  unsigned char* found = nullptr;
  const int how =
      SSL_select_next_proto(&found, length, reinterpret_cast<const unsigned char*>(ours.data()),
                            static_cast<unsigned int>(ours.size()), offered, offered_length);
  *chosen = found;
  return how == OPENSSL_NPN_NEGOTIATED ? SSL_TLSEXT_ERR_OK : SSL_TLSEXT_ERR_ALERT_FATAL;
}

absl::StatusOr<std::shared_ptr<LoadedContext>> NewContext(const SSL_METHOD* method,
                                                          const std::vector<std::string>& alpn) {
  ERR_clear_error();
  auto context = std::make_shared<LoadedContext>();
  context->alpn = EncodeAlpn(alpn);
  context->ctx.reset(SSL_CTX_new(method));
  SSL_CTX* const ctx = context->ctx.get();
  if (ctx == nullptr || SSL_CTX_set_min_proto_version(ctx, TLS1_2_VERSION) != 1) {
    return absl::InternalError(
        absl::StrCat("tls: OpenSSL makes no context: ", OpenSslError::Take().text));
  }
  // Sessions are not resumed: a certificate that was taken back must not live on in tickets.
  SSL_CTX_set_options(ctx, SSL_OP_NO_COMPRESSION | SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_TICKET |
                               SSL_OP_CIPHER_SERVER_PREFERENCE);
  SSL_CTX_set_session_cache_mode(ctx, SSL_SESS_CACHE_OFF);
  // A connection at rest keeps no buffers of a record, 34 KiB.
  SSL_CTX_set_mode(ctx, SSL_MODE_RELEASE_BUFFERS);
  return context;
}

}  // namespace

absl::StatusOr<std::shared_ptr<const LoadedContext>> LoadClientContext(
    const ClientTlsOptions& options) {
  auto made = NewContext(TLS_client_method(), options.alpn);
  if (!made.ok()) return made.status();
  LoadedContext& context = **made;
  SSL_CTX* const ctx = context.ctx.get();
  if (absl::Status loaded = LoadPair(ctx, options.files); !loaded.ok()) return loaded;
  SSL_CTX_set_verify(ctx, options.verify ? SSL_VERIFY_PEER : SSL_VERIFY_NONE, nullptr);
  if (options.verify) {
    if (absl::Status loaded = LoadTrusted(ctx, options.files.ca); !loaded.ok()) return loaded;
  }
  // 0 is success.
  if (!context.alpn.empty() &&
      SSL_CTX_set_alpn_protos(ctx, reinterpret_cast<const unsigned char*>(context.alpn.data()),
                              static_cast<unsigned int>(context.alpn.size())) != 0) {
    return Refused("ALPN", "list", "shorten it");
  }
  return *std::move(made);
}

absl::StatusOr<std::shared_ptr<const LoadedContext>> LoadServerContext(
    const ServerTlsOptions& options) {
  auto made = NewContext(TLS_server_method(), options.alpn);
  if (!made.ok()) return made.status();
  LoadedContext& context = **made;
  SSL_CTX* const ctx = context.ctx.get();
  SSL_CTX_set_num_tickets(ctx, 0);
  if (absl::Status loaded = LoadPair(ctx, options.files); !loaded.ok()) return loaded;
  if (options.require_client_certificate) {
    SSL_CTX_set_verify(ctx, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, nullptr);
    if (absl::Status loaded = LoadTrusted(ctx, options.files.ca); !loaded.ok()) return loaded;
    // Sent to clients, so that one with several certificates finds the right one.
    STACK_OF(X509_NAME)* const names = SSL_load_client_CA_file(options.files.ca.c_str());
    if (names == nullptr) return Refused("CA file", options.files.ca, "it must be in PEM");
    SSL_CTX_set_client_CA_list(ctx, names);
  }
  if (!context.alpn.empty()) SSL_CTX_set_alpn_select_cb(ctx, SelectAlpn, &context);
  return *std::move(made);
}

}  // namespace farcall
