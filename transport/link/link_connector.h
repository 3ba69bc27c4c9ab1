// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_TRANSPORT_LINK_LINK_CONNECTOR_H_
#define FARCALL_TRANSPORT_LINK_LINK_CONNECTOR_H_

#include <memory>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "transport/link/connection/link_connection.h"
#include "transport/link/connection/link_settings.h"
#include "transport/loop/event_loop.h"
#include "transport/transport.h"

namespace farcall {

// One attempt to connect to a peer that may speak link frames. It owns itself until it has
// called `done`:
//
//   probe --RDMA here--> connect --> hello --linked--> done, or with require_rdma: RDMA --> done
//     |                                |  \--declined-> done, plain
//     |                                +--no hello, may be brpc: connect   --> brpc's hello -->
//     done
//     +--none: connect plainly <-------+ silent peer                             or plainly
//
// What would be plain is an error with require_rdma and ConnectOptions::instead_of.
// Each step has a time of its own: probe_timeout, ConnectOptions::timeout, hello_timeout, and
// ConnectOptions::timeout again for RDMA. What is slow at looking for devices or at
// answering must not cost a connection that TCP would have given.
class LinkConnector {
 public:
  // With `loop` held. What is asked for is RDMA, and neither address nor timeout speak
  // against it. `tcp` outlives the attempt.
  static void Start(EventLoop& loop, Transport& tcp, std::shared_ptr<const LinkSettings> settings,
                    const Address& peer, const ConnectOptions& options, Transport::OnConnect done);

 private:
  LinkConnector(EventLoop& loop, Transport& tcp, std::shared_ptr<const LinkSettings> settings,
                const Address& peer, const ConnectOptions& options, Transport::OnConnect done);

  void Begin(const std::shared_ptr<LinkConnector>& self);
  void OnProbed(const absl::Status& available);
  void ConnectTcp();
  void OnConnected(absl::StatusOr<std::unique_ptr<Connection>> connection);
  void OnHello(Handshaken::Kind kind);
  bool TriesBrpc() const;
  void OnBrpcHello(Handshaken::Kind kind);
  void OnUpgrade(const absl::Status& why);
  void OnTime();
  void Finish(absl::StatusOr<std::unique_ptr<Connection>> result);
  bool requires_rdma() const { return settings_->options.require_rdma; }
  bool may_be_plain() const { return !requires_rdma() && !options_.instead_of; }

  EventLoop& loop_;
  Transport& tcp_;
  const std::shared_ptr<const LinkSettings> settings_;
  const Address peer_;
  const ConnectOptions options_;
  Transport::OnConnect done_;
  bool probed_ = false;
  bool patient_ = false;  // the hello may take busy_hello_timeout
  bool brpc_ = false;     // the next connection says brpc's hello
  absl::Status plain_;    // not OK: why the next connection is plain
  std::unique_ptr<LinkConnection> connection_;
  Timer timer_;
  // Until Finish; callbacks that come later do nothing.
  std::shared_ptr<LinkConnector> self_;
};

}  // namespace farcall

#endif  // FARCALL_TRANSPORT_LINK_LINK_CONNECTOR_H_
