// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_TRANSPORT_TCP_TCP_LISTENER_H_
#define FARCALL_TRANSPORT_TCP_TCP_LISTENER_H_

#include <memory>
#include <mutex>
#include <utility>

#include "absl/status/statusor.h"
#include "transport/address.h"
#include "transport/base/episode_log.h"
#include "transport/buffer/block_pool.h"
#include "transport/loop/loop_group.h"
#include "transport/tcp/acceptor.h"
#include "transport/tcp/unix_socket_file.h"
#include "transport/transport.h"

namespace farcall {

// A listening socket: TCP or unix. Any thread, no loop held.
//
// Close waits for an OnAccept that runs, and for nothing else: not for a loop's turn. When
// it has returned the address is free, and connecting to it is refused.
class TcpListener final : public Listener {
 public:
  // `pool` is for the Connections; it and `log` outlive the Listener and the loops' last
  // turn. kAlreadyExists: the address is in use; kNotFound: it is none of
  // this host's.
  static absl::StatusOr<std::unique_ptr<Listener>> Open(LoopGroup& loops, const Address& address,
                                                        const ListenOptions& options,
                                                        BlockPool& pool,
                                                        const EpisodeLog::Sink& log,
                                                        Transport::OnAccept on_accept);
  ~TcpListener() override { Close(); }

  const Address& address() const override { return address_; }
  void Close() override;

 private:
  TcpListener(Address address, std::shared_ptr<Acceptor> acceptor);

  const Address address_;
  std::mutex mutex_;
  // Guarded by mutex_.
  UnixSocketFile file_;
  std::shared_ptr<Acceptor> acceptor_;  // null after Close
};

}  // namespace farcall

#endif  // FARCALL_TRANSPORT_TCP_TCP_LISTENER_H_
