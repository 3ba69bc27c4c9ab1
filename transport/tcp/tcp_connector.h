// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_TRANSPORT_TCP_TCP_CONNECTOR_H_
#define FARCALL_TRANSPORT_TCP_TCP_CONNECTOR_H_

#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "transport/address.h"
#include "transport/base/time.h"
#include "transport/buffer/block_pool.h"
#include "transport/loop/event_loop.h"
#include "transport/tcp/watched_socket.h"
#include "transport/transport.h"

namespace farcall {

// One attempt to connect. It owns itself until it has called `done`.
//
// kInvalidArgument: the address or the options; kResourceExhausted: this process or host
// is out of something; kDeadlineExceeded: no answer within the timeout; else what
// connect(2) says, kUnavailable for most.
class TcpConnector final : private FdHandler {
 public:
  // With `loop` held; `pool` is for the Connection. `done` is called from the mailbox.
  static void Start(EventLoop& loop, BlockPool& pool, const Address& peer,
                    const ConnectOptions& options, Transport::OnConnect done);

 private:
  TcpConnector(EventLoop& loop, BlockPool& pool, const Address& peer, const ConnectOptions& options,
               Transport::OnConnect done);

  absl::Status StartConnect();
  void OnReady(uint32_t events) override;
  void OnTime();
  void RetryUntilDeadline();
  void Finish(absl::Status status);
  absl::StatusOr<std::unique_ptr<Connection>> Result();

  // How often a unix socket whose listener is busy is tried again.
  static constexpr Duration kRetry = std::chrono::milliseconds(2);

  EventLoop& loop_;
  BlockPool& pool_;
  const Address peer_;
  const ConnectOptions options_;
  const TimePoint deadline_;
  Transport::OnConnect done_;
  absl::Status status_;
  std::unique_ptr<WatchedSocket> socket_;  // while it connects, and after
  Timer timer_;
  std::unique_ptr<TcpConnector> self_;  // until Finish
};

}  // namespace farcall

#endif  // FARCALL_TRANSPORT_TCP_TCP_CONNECTOR_H_
