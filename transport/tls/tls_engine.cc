// SPDX-License-Identifier: Apache-2.0

#include "transport/tls/tls_engine.h"

#include <openssl/err.h>
#include <openssl/x509v3.h>

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "transport/base/check.h"
#include "transport/tls/certificate_text.h"
#include "transport/tls/openssl_error.h"
#include "transport/tls/tls_error.h"

namespace farcall {
namespace {

constexpr size_t kFirstBytes = 8;

bool IsIp(const std::string& name) {
  ASN1_OCTET_STRING* const ip = a2i_IPADDRESS(name.c_str());
  ASN1_OCTET_STRING_free(ip);
  return ip != nullptr;
}

}  // namespace

TlsEngine::TlsEngine(std::shared_ptr<const LoadedContext> context, bool server, BlockPool& pool)
    : context_(std::move(context)), server_(server), bio_(pool) {}

absl::StatusOr<std::unique_ptr<TlsEngine>> TlsEngine::Make(
    std::shared_ptr<const LoadedContext> context, bool server, BlockPool& pool) {
  ERR_clear_error();
  std::unique_ptr<TlsEngine> engine(new TlsEngine(std::move(context), server, pool));
  engine->ssl_.reset(SSL_new(engine->context_->ctx.get()));
  SSL* const ssl = engine->ssl_.get();
  BIO* const bio = ssl != nullptr ? engine->bio_.New() : nullptr;
  if (bio == nullptr) {
    return absl::ResourceExhaustedError(
        absl::StrCat("tls: no memory for a connection: ", OpenSslError::Take().text));
  }
  SSL_set_bio(ssl, bio, bio);
  SSL_set_app_data(ssl, engine.get());
  SSL_set_verify(ssl, SSL_get_verify_mode(ssl), OnVerify);
  SSL_set_msg_callback(ssl, OnMessage);
  SSL_set_msg_callback_arg(ssl, engine.get());
  server ? SSL_set_accept_state(ssl) : SSL_set_connect_state(ssl);
  return engine;
}

absl::StatusOr<std::unique_ptr<TlsEngine>> TlsEngine::Client(
    std::shared_ptr<const LoadedContext> context, absl::string_view name, BlockPool& pool) {
  auto engine = Make(std::move(context), /*server=*/false, pool);
  if (!engine.ok()) return engine;
  if (absl::Status expected = (*engine)->ExpectName(name); !expected.ok()) return expected;
  return engine;
}

absl::StatusOr<std::unique_ptr<TlsEngine>> TlsEngine::Server(
    std::shared_ptr<const LoadedContext> context, BlockPool& pool) {
  return Make(std::move(context), /*server=*/true, pool);
}

absl::Status TlsEngine::ExpectName(absl::string_view name) {
  SSL* const ssl = ssl_.get();
  name_ = std::string(absl::StripSuffix(name, "."));
  if (name_.empty()) {
    if (SSL_get_verify_mode(ssl) == SSL_VERIFY_NONE) return absl::OkStatus();
    return absl::InvalidArgumentError(
        "tls: the peer has no name that its certificate could bear: set "
        "ClientTlsOptions::server_name");
  }
  X509_VERIFY_PARAM* const expected = SSL_get0_param(ssl);
  bool taken = false;
  if (IsIp(name_)) {
    // No SNI, which is for names only: RFC 6066 section 3.
    taken = X509_VERIFY_PARAM_set1_ip_asc(expected, name_.c_str()) == 1;
  } else {
    X509_VERIFY_PARAM_set_hostflags(expected, X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS);
    taken = X509_VERIFY_PARAM_set1_host(expected, name_.data(), name_.size()) == 1 &&
            SSL_set_tlsext_host_name(ssl, name_.c_str()) == 1;
  }
  if (taken) return absl::OkStatus();
  ERR_clear_error();
  return absl::InvalidArgumentError(
      absl::StrCat("tls: ", name_, " is neither a host name nor an address"));
}

int TlsEngine::OnVerify(int ok, X509_STORE_CTX* store) {
  const auto* const ssl = static_cast<const SSL*>(
      X509_STORE_CTX_get_ex_data(store, SSL_get_ex_data_X509_STORE_CTX_idx()));
  auto& self = *static_cast<TlsEngine*>(SSL_get_app_data(ssl));
  if (ok != 1 && self.certificate_error_.empty()) {
    self.certificate_error_ = ExplainCertificate(store, self.name_);
  }
  return ok;
}

// One of 27 bytes costs this end 17 us, and OpenSSL looks at all that it can read, one after
// another. So when they are too many it finds no more to read.
void TlsEngine::OnMessage(int written, int, int type, const void*, size_t, SSL*, void* engine) {
  auto& self = *static_cast<TlsEngine*>(engine);
  if (!self.established_ || written != 0 || type != SSL3_RT_HANDSHAKE) return;
  ++self.messages_;
  if (self.AsksTooMuch()) self.bio_.set_input(nullptr);
}

TlsEngine::Outcome TlsEngine::Handshake(Buffer& input) {
  ERR_clear_error();
  RememberFirstBytes(input);
  bio_.set_input(&input);
  const int result = SSL_do_handshake(ssl_.get());
  bio_.set_input(nullptr);
  if (result == 1) {
    established_ = true;
    return Outcome::kDone;
  }
  if (SSL_get_error(ssl_.get(), result) == SSL_ERROR_WANT_READ) return Outcome::kMore;
  Fail(/*handshake=*/true);
  if (server_ && !IsTls(first_bytes_)) bio_.output() = Buffer(AnswerToNoTls(first_bytes_));
  return Outcome::kFailed;
}

TlsEngine::Outcome TlsEngine::Read(Buffer& input, PlainInput& plain) {
  ERR_clear_error();
  bio_.set_input(&input);
  Outcome outcome = Outcome::kMore;
  while (!input.empty() || SSL_pending(ssl_.get()) > 0) {
    const std::span<char> room = plain.Room();
    if (room.empty()) {
      outcome = Outcome::kNoMemory;
      break;
    }
    size_t got = 0;
    if (SSL_read_ex(ssl_.get(), room.data(), room.size(), &got) == 1) {
      plain.Filled(got);
      plain_read_ += got;
      continue;
    }
    const int why = SSL_get_error(ssl_.get(), 0);
    if (AsksTooMuch()) {
      error_ = absl::ResourceExhaustedError(
          "TLS failed: the peer asks for new keys, or for renegotiation, again and again");
      outcome = Outcome::kFailed;
      break;
    }
    if (why == SSL_ERROR_WANT_READ) break;
    outcome = why == SSL_ERROR_ZERO_RETURN ? Outcome::kEnded : Fail(/*handshake=*/false);
    break;
  }
  bio_.set_input(nullptr);
  return outcome;
}

bool TlsEngine::Write(Buffer& plain) {
  ERR_clear_error();
  char scratch[kMaxPlain];
  const size_t size = std::min(plain.size(), kMaxPlain);
  const absl::string_view bytes = plain.Front(size, scratch);
  if (records_ >= kRecordsForKey && plain_written_ >= kBytesForMessage) TakeNewKeys();
  size_t written = 0;
  if (SSL_write_ex(ssl_.get(), bytes.data(), bytes.size(), &written) != 1) {
    if (SSL_get_error(ssl_.get(), 0) == SSL_ERROR_WANT_READ) return true;
    Fail(/*handshake=*/false);
    return false;
  }
  Check(written == size, "a record is written whole");
  plain.RemoveFront(size);
  ++records_;
  plain_written_ += size;
  return true;
}

// Before a record, with which they go out: until they have gone, OpenSSL sends no close_notify. It
// takes none while it waits for the rest of a message; the next record will do.
void TlsEngine::TakeNewKeys() {
  if (SSL_version(ssl_.get()) == TLS1_3_VERSION &&
      SSL_key_update(ssl_.get(), SSL_KEY_UPDATE_NOT_REQUESTED) != 1) {
    return ERR_clear_error();
  }
  records_ = 0;
  plain_written_ = 0;
}

void TlsEngine::Shut() {
  ERR_clear_error();
  // It can fail with an error that was reported before.
  SSL_shutdown(ssl_.get());
  ERR_clear_error();
}

Buffer TlsEngine::TakeOutput() { return std::exchange(bio_.output(), Buffer()); }

std::string TlsEngine::Version() const {
  return absl::StrCat(SSL_get_version(ssl_.get()), " ", SSL_get_cipher_name(ssl_.get()));
}

std::string TlsEngine::PeerSubject() const {
  const UniqueX509 certificate(SSL_get1_peer_certificate(ssl_.get()));
  return certificate != nullptr ? SubjectOf(*certificate) : "";
}

std::string TlsEngine::Alpn() const {
  const unsigned char* name = nullptr;
  unsigned int length = 0;
  SSL_get0_alpn_selected(ssl_.get(), &name, &length);
  return std::string(reinterpret_cast<const char*>(name), length);
}

void TlsEngine::RememberFirstBytes(const Buffer& input) {
  const size_t more = std::min(input.size(), kFirstBytes - first_bytes_.size());
  char bytes[kFirstBytes];
  input.CopyTo(bytes, more);
  first_bytes_.append(bytes, more);
}

TlsEngine::Outcome TlsEngine::Fail(bool handshake) {
  TlsFailure failure;
  failure.error = OpenSslError::Take();
  failure.server = server_;
  failure.handshake = handshake;
  failure.certificate = certificate_error_;
  failure.first_bytes = first_bytes_;
  error_ = ToStatus(failure);
  return Outcome::kFailed;
}

}  // namespace farcall
