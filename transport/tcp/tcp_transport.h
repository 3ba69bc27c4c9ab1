// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_TRANSPORT_TCP_TCP_TRANSPORT_H_
#define FARCALL_TRANSPORT_TCP_TCP_TRANSPORT_H_

#include <memory>
#include <utility>

#include "absl/status/statusor.h"
#include "transport/address.h"
#include "transport/base/episode_log.h"
#include "transport/buffer/block_pool.h"
#include "transport/loop/event_loop.h"
#include "transport/loop/loop_group.h"
#include "transport/transport.h"

namespace farcall {

// The Transport over sockets: IPv4, IPv6 (a listener on [::] takes IPv4 too) and unix.
// A unix listener removes the file that a dead process left, and its own when it closes.
//
// Errors of Connect: tcp_connector.h. Errors of Listen, beside what bind(2) says:
// kInvalidArgument for options, kAlreadyExists where a unix path is in use.
class TcpTransport final : public Transport {
 public:
  // `pool` serves all connections and outlives the transport and them. `log`, which may be
  // empty, gets a line when connections cannot be accepted, one for as long as that
  // lasts; on any thread, with a loop held.
  TcpTransport(BlockPool& pool, EpisodeLog::Sink log) : pool_(pool), log_(std::move(log)) {}
  TcpTransport(const TcpTransport&) = delete;
  TcpTransport& operator=(const TcpTransport&) = delete;

  void Connect(EventLoop& loop, const Address& peer, const ConnectOptions& options,
               OnConnect done) override;
  absl::StatusOr<std::unique_ptr<Listener>> Listen(LoopGroup& loops, const Address& address,
                                                   const ListenOptions& options,
                                                   OnAccept on_accept) override;

 private:
  BlockPool& pool_;
  const EpisodeLog::Sink log_;
};

}  // namespace farcall

#endif  // FARCALL_TRANSPORT_TCP_TCP_TRANSPORT_H_
