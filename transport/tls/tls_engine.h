// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_TRANSPORT_TLS_TLS_ENGINE_H_
#define FARCALL_TRANSPORT_TLS_TLS_ENGINE_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "transport/buffer/block_pool.h"
#include "transport/buffer/buffer.h"
#include "transport/tls/buffer_bio.h"
#include "transport/tls/loaded_context.h"
#include "transport/tls/openssl_ptr.h"
#include "transport/tls/plain_input.h"

namespace farcall {

// TLS for one end of a connection, without the connection: bytes of the peer go in, bytes for it
// and plaintext come out. One thread at a time.
class TlsEngine {
 public:
  enum class Outcome {
    kDone,      // the handshake is over
    kMore,      // needs more bytes of the peer
    kEnded,     // the peer ended its stream in order, close_notify
    kNoMemory,  // the pool has no block for plaintext; the bytes stay, to be tried again
    kFailed,    // error(); output() has an alert for the peer
  };

  // `name`: whom the certificate must name, if the context verifies: a host or an IP address.
  // `pool` outlives the engine.
  static absl::StatusOr<std::unique_ptr<TlsEngine>> Client(
      std::shared_ptr<const LoadedContext> context, absl::string_view name, BlockPool& pool);
  static absl::StatusOr<std::unique_ptr<TlsEngine>> Server(
      std::shared_ptr<const LoadedContext> context, BlockPool& pool);
  TlsEngine(const TlsEngine&) = delete;
  TlsEngine& operator=(const TlsEngine&) = delete;

  // kDone, kMore, or kFailed. Takes from `input` what belongs to the handshake.
  Outcome Handshake(Buffer& input);
  // Whether bytes of the peer have come.
  bool heard() const { return !first_bytes_.empty(); }
  // After the handshake: decrypts all of `input` to the end of `plain`. Never kDone.
  Outcome Read(Buffer& input, PlainInput& plain);
  // Encrypts one record of at most kMaxPlain bytes from the front of `plain`, which is not empty;
  // nothing while OpenSSL waits for the rest of a message of the peer, until a Read has got it.
  // False: error().
  bool Write(Buffer& plain);
  // The end of this end's stream: close_notify. Nothing is written afterwards.
  void Shut();

  // What is to be sent to the peer.
  size_t output_size() { return bio_.output().size(); }
  Buffer TakeOutput();
  // See BufferBio::Rest.
  void Rest(bool waits) { bio_.Rest(waits); }

  const absl::Status& error() const { return error_; }
  std::string Version() const;      // "TLSv1.3 TLS_AES_256_GCM_SHA384"
  std::string PeerSubject() const;  // of its certificate; "" if it showed none
  std::string Alpn() const;         // what was agreed on; "" if nothing

  static constexpr size_t kMaxPlain = 16384;  // bytes of a record, RFC 8446 section 5.1

 private:
  TlsEngine(std::shared_ptr<const LoadedContext> context, bool server, BlockPool& pool);
  static absl::StatusOr<std::unique_ptr<TlsEngine>> Make(
      std::shared_ptr<const LoadedContext> context, bool server, BlockPool& pool);
  absl::Status ExpectName(absl::string_view name);
  static int OnVerify(int ok, X509_STORE_CTX* store);
  static void OnMessage(int written, int version, int type, const void* bytes, size_t size,
                        SSL* ssl, void* engine);
  void RememberFirstBytes(const Buffer& input);
  bool AsksTooMuch() const { return messages_ > kFreeMessages + plain_read_ / kBytesForMessage; }
  void TakeNewKeys();
  Outcome Fail(bool handshake);

  // What a peer may ask for after the handshake (new keys, renegotiation, which is refused), and
  // what it may give (tickets): so many messages, and one more for each so many bytes of plaintext.
  static constexpr uint64_t kFreeMessages = 256;
  static constexpr uint64_t kBytesForMessage = uint64_t{1} << 20;
  // This end takes new keys after so many records, and kBytesForMessage: well below what RFC 8446
  // section 5.5 allows, and never too often for a peer like this one.
  static constexpr uint64_t kRecordsForKey = uint64_t{1} << 16;

  const std::shared_ptr<const LoadedContext> context_;
  const bool server_;
  BufferBio bio_;
  UniqueSsl ssl_;  // uses bio_ and context_
  std::string name_;
  std::string certificate_error_;
  std::string first_bytes_;
  bool established_ = false;  // the handshake is over
  uint64_t messages_ = 0;     // since then, beside plaintext
  uint64_t plain_read_ = 0;   // bytes
  // Written with the present keys.
  uint64_t records_ = 0;
  uint64_t plain_written_ = 0;  // bytes
  absl::Status error_;
};

}  // namespace farcall

#endif  // FARCALL_TRANSPORT_TLS_TLS_ENGINE_H_
