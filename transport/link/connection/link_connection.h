// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_TRANSPORT_LINK_CONNECTION_LINK_CONNECTION_H_
#define FARCALL_TRANSPORT_LINK_CONNECTION_LINK_CONNECTION_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "absl/functional/any_invocable.h"
#include "absl/status/status.h"
#include "transport/link/connection/brpc_stream.h"
#include "transport/link/connection/handshake.h"
#include "transport/link/connection/link_settings.h"
#include "transport/link/connection/linked_stream.h"
#include "transport/loop/event_loop.h"
#include "transport/loop/posted_call.h"
#include "transport/transport.h"

namespace farcall {

// A Connection over a TCP connection that begins with a hello, or not:
//
//   HELLO --accepted--> LINKED   a LinkedStream drives it
//         --brpc's----> BRPC     a BrpcStream does, over RDMA
//         --else------> PLAIN    calls and callbacks go straight through
//
// A server has it in its hands from the beginning; what it writes waits for the peer's
// first bytes. A client gets it when its hello was answered. With the loop held.
class LinkConnection final : public Connection, private Connection::Handler {
 public:
  // Of two names that are one.
  using Handler = Connection::Handler;
  // What the hello came to; from the mailbox, once.
  using OnHello = absl::AnyInvocable<void(Handshaken::Kind)>;
  // From the mailbox, once: OK when this end sends by RDMA, else why the first attempt, or
  // what goes before it, failed.
  using OnUpgrade = absl::AnyInvocable<void(const absl::Status&)>;

  struct Parts {
    EventLoop& loop;
    std::unique_ptr<Connection> tcp;  // not started
    std::shared_ptr<const LinkSettings> settings;
    ConnectionOptions options;
    Introduction introduction = {};
  };

  // A client's that says hello. Until `done` is called it may only be destroyed.
  static std::unique_ptr<LinkConnection> SayHello(Parts parts, Duration timeout, OnHello done);
  // The same with brpc's RDMA hello.
  static std::unique_ptr<LinkConnection> SayBrpcHello(Parts parts, OnHello done);
  // A client's that says none, for this reason.
  static std::unique_ptr<LinkConnection> Plain(Parts parts, const absl::Status& why);
  // A server's. If `unwanted` is not OK, hellos are declined with that reason.
  static std::unique_ptr<LinkConnection> Accept(Parts parts, const absl::Status& unwanted);
  ~LinkConnection() override;

  void Start(Handler& handler) override;
  void Write(Buffer data) override;
  void PauseRead() override;
  void ResumeRead() override;
  void Close(absl::Status why, CloseMode mode) override;
  size_t backlog() const override;
  BlockPool& pool() override { return parts_.tcp->pool(); }
  ConnectionInfo info() const override;
  uint64_t info_version() const override { return info_version_; }
  void TrustPeer() override;

  // Calls `done`; at most one waits. It is not called if the connection is destroyed before.
  void WhenUpgraded(OnUpgrade done);
  // Why this end does not send by RDMA, or why the hello failed; OK: it does.
  absl::Status why_not_rdma() const;

 private:
  enum class Phase : uint8_t { kHello, kPlain, kLinked, kBrpc, kClosed };

  LinkConnection(Parts parts, LinkRole role);
  Handshake::Parts HandshakeParts();

  // Of tcp.
  size_t OnRead(Buffer& input) override;
  Buffer PlaceFor(size_t ahead, size_t bytes) override;
  std::shared_ptr<void> HoldPlace() override { return handler_->HoldPlace(); }
  void OnDrained() override;
  void OnClose(const absl::Status& why) override;

  void OnHandshaken(Handshaken result);
  void OnLinkChange();
  void WritePlain(Buffer data);
  void BecomePlain(const absl::Status& why, bool missed);
  void BecomeLinked(const Handshaken& result);
  void MeetBrpc();
  void BecomeBrpc(Handshaken result);
  void StartBrpc();
  void OnBrpcEnd(const absl::Status& why);
  bool requires_rdma() const { return parts_.settings->options.require_rdma; }
  bool MayRead() const;
  void Govern();
  void OnRequiredTimeout();
  void NotifyUpgrade();
  void Finish(const absl::Status& why);
  void Record();
  std::string LogName() const;

  Parts parts_;
  EventLoop& loop_;
  const LinkRole role_;
  Phase phase_ = Phase::kHello;
  Handler* handler_ = nullptr;
  bool paused_ = false;
  bool reads_ = true;         // the last setting of tcp or linked_
  bool was_on_rdma_ = false;  // this end sent by RDMA
  uint64_t info_version_ = 0;
  Buffer early_;         // HELLO: written before it is known how
  uint64_t plain_ = 0;   // PLAIN: bytes of the handler given to tcp, which may hold a hello too
  absl::Status why_;     // why it is not LINKED
  absl::Status closed_;  // CLOSED: why
  std::unique_ptr<Handshake> handshake_;
  std::unique_ptr<Handshake> next_handshake_;  // instead of the one that has just found it
  bool brpc_hello_ = false;                    // the peer has begun brpc's
  std::unique_ptr<BrpcStream> brpc_;
  std::unique_ptr<LinkedStream> linked_;
  OnHello on_hello_;
  OnUpgrade on_upgrade_;
  PostedCall hello_call_;
  PostedCall upgrade_call_;
  PostedCall close_call_;
  Timer required_timer_;  // server: how long a required upgrade may take
};

}  // namespace farcall

#endif  // FARCALL_TRANSPORT_LINK_CONNECTION_LINK_CONNECTION_H_
