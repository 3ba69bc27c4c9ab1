// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_TRANSPORT_TLS_TLS_CONNECTION_H_
#define FARCALL_TRANSPORT_TLS_TLS_CONNECTION_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>

#include "absl/functional/any_invocable.h"
#include "absl/status/status.h"
#include "transport/base/backoff.h"
#include "transport/carrier/drain_mark.h"
#include "transport/carrier/framed_backlog.h"
#include "transport/loop/event_loop.h"
#include "transport/loop/posted_call.h"
#include "transport/tls/plain_input.h"
#include "transport/tls/tls_engine.h"
#include "transport/transport.h"

namespace farcall {

// A Connection whose bytes travel by TLS over another one. With the loop held.
//
//   HANDSHAKE --> OPEN --Close(kFlush)--> FLUSHING --all encrypted, close_notify--> ENDING -->
//   CLOSED
//        \          \--broken, the peer's end, Close(kAbort)---------------------->/
//
// What is written waits as plaintext, and is encrypted at the end of the loop's turn in records as
// large as they may be, no more of it than the connection below takes without a backlog of its own.
// A server has it in its hands from the beginning; a client gets it after the handshake.
class TlsConnection final : public Connection, private Connection::Handler, private Flushable {
 public:
  using Handler = Connection::Handler;
  // From the mailbox, once: OK at the end of the handshake, else why it failed.
  using OnReady = absl::AnyInvocable<void(const absl::Status&)>;

  struct Parts {
    EventLoop& loop;
    std::unique_ptr<Connection> inner;  // not started; made with InnerOptions(options)
    std::unique_ptr<TlsEngine> engine;
    ConnectionOptions options;
    TimePoint handshake_deadline;
    Duration handshake_timeout;  // how long that was, for people
    bool forbids_rdma = false;   // see ConnectOptions::tls_forbids_rdma
  };

  // The options for the connection below.
  static ConnectionOptions InnerOptions(ConnectionOptions options);
  // Until `ready` is called it may only be destroyed.
  static std::unique_ptr<TlsConnection> Connect(Parts parts, OnReady ready);
  static std::unique_ptr<TlsConnection> Accept(Parts parts);
  TlsConnection(const TlsConnection&) = delete;
  TlsConnection& operator=(const TlsConnection&) = delete;
  ~TlsConnection() override;

  void Start(Handler& handler) override;
  void Write(Buffer data) override;
  void PauseRead() override;
  void ResumeRead() override;
  void Close(absl::Status why, CloseMode mode) override;
  size_t backlog() const override;
  BlockPool& pool() override { return inner_->pool(); }
  // Counts plaintext, and the reads and writes of the connection below.
  ConnectionInfo info() const override;
  uint64_t info_version() const override { return info_version_; }

 private:
  enum class Phase : uint8_t {
    kHandshake,
    kOpen,
    kFlushing,  // what was written is encrypted; what comes is dropped
    kEnding,    // the connection below is closing
    kClosed,    // and has closed: OnClose was called, or waits for Start
  };

  TlsConnection(Parts parts, bool server);

  // Of the connection below.
  size_t OnRead(Buffer& input) override;
  void OnDrained() override { Encrypt(); }
  void OnClose(const absl::Status& why) override;
  void Flush() override { Encrypt(); }

  void Handshake(Buffer& input);
  void ReadTurn(Buffer& input);
  void Deliver();
  void EndByPeer();
  void Encrypt();
  void SendOutput(size_t plain = 0);
  void CheckDrained();
  bool MayRead() const;
  void Govern();
  void Starve();
  void Soon(Duration delay = Duration::zero());
  void OnSoon();
  void OnDeadline();
  void End(absl::Status why, CloseMode mode);
  void NotifyReady(const absl::Status& status);
  absl::Status ClosedByPeer() const;
  absl::Status Failed() const;
  absl::Status EndedEarly(const absl::Status& why) const;

  // What may wait encrypted. Bytes; a burst of this size is encrypted in less than 0.2 ms.
  static constexpr size_t kMaxEncrypted = size_t{256} << 10;
  // What a peer may make this end answer (alerts, key updates) without reading it. Bytes.
  static constexpr size_t kMaxUnasked = size_t{256} << 10;
  // Without memory it is given up as in TcpConnection.
  static constexpr Duration kStarved = std::chrono::seconds(1);

  EventLoop& loop_;
  const std::unique_ptr<Connection> inner_;
  const std::unique_ptr<TlsEngine> engine_;
  const ConnectionOptions options_;
  const size_t inner_high_;
  const Duration handshake_timeout_;
  const bool forbids_rdma_;
  const bool server_;
  Handler* handler_ = nullptr;  // since Start
  OnReady on_ready_;            // client, until it is called

  Phase phase_ = Phase::kHandshake;
  absl::Status why_;  // from Close on, or from what else ended it
  Buffer queue_;      // plaintext that waits to be encrypted
  FramedBacklog encrypted_;
  PlainInput plain_;
  uint64_t bytes_read_ = 0;
  uint64_t bytes_written_ = 0;
  uint64_t info_version_ = 0;
  bool closing_ = false;     // by Close(kFlush)
  bool paused_ = false;      // by PauseRead
  bool reads_ = true;        // the last setting of inner_
  bool redeliver_ = false;   // OnRead is due for input that was left when reading paused
  bool peer_ended_ = false;  // in order, behind input that is not delivered yet
  DrainMark drain_;
  Backoff retry_ = Backoff::ForMemory();
  bool starving_ = false;                    // no memory to decrypt into; reading waits
  bool waits_below_ = false;                 // encrypted bytes hold blocks meanwhile
  std::optional<TimePoint> starving_since_;  // the first time since bytes were decrypted
  Timer soon_;
  Timer deadline_;  // of the handshake, then of a close
  PostedCall ready_call_;
  PostedCall close_call_;
};

}  // namespace farcall

#endif  // FARCALL_TRANSPORT_TLS_TLS_CONNECTION_H_
