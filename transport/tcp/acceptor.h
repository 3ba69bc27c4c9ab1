// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_TRANSPORT_TCP_ACCEPTOR_H_
#define FARCALL_TRANSPORT_TCP_ACCEPTOR_H_

#include <cstdint>
#include <memory>

#include "absl/functional/any_invocable.h"
#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "transport/address.h"
#include "transport/base/backoff.h"
#include "transport/base/episode_log.h"
#include "transport/base/threads/in_flight.h"
#include "transport/base/time.h"
#include "transport/base/unique_fd.h"
#include "transport/buffer/block_pool.h"
#include "transport/carrier/accept_gate.h"
#include "transport/loop/event_loop.h"
#include "transport/loop/loop_group.h"
#include "transport/sockaddr.h"
#include "transport/transport.h"

namespace farcall {

// Takes connections from a listening socket on one loop of a group and deals them out
// to all of them in turn. Shared with the tasks that it posts.
//
// Out of file descriptors or memory it stops and tries again by timer, 10 ms to 1 s later:
// the kernel keeps the connections waiting (up to the backlog), and an
// edge-triggered socket would not tell of them again.
class Acceptor final : public std::enable_shared_from_this<Acceptor>, private FdHandler {
 public:
  struct Parts {
    LoopGroup& loops;  // until Close
    BlockPool& pool;
    const EpisodeLog::Sink& log;
    ConnectionOptions options;
    Address address;  // what it listens on
    UniqueFd fd;      // listening
  };

  // Any thread. What `parts` refers to outlives the loops' last turn.
  Acceptor(Parts parts, Transport::OnAccept on_accept);
  ~Acceptor();

  // Any thread, no loop held; each once, in this order.
  void Open();
  // Hands over who has connected by now, as far as the loops find time for it; then no OnAccept
  // begins or runs any more, and the kernel takes no more connections. The loop lets go of the
  // socket when it turns next, if it is held now.
  void Close();

 private:
  void Watch();  // these with loop_ held
  void Unwatch();
  void OnReady(uint32_t) override { AcceptSome(); }
  void AcceptSome();
  bool OnAcceptError(int error);
  void RetryLater();
  UniqueFd AcceptOne(SocketAddress& peer);
  void TakeLast();
  void Deal(UniqueFd fd, Address peer);
  // What `target` does with its next connection.
  auto PostAccept(EventLoop& target, UniqueFd fd, Address peer);
  // With `loop` held, inside the gate.
  void Hand(EventLoop& loop, UniqueFd fd, Address peer);
  absl::StatusOr<std::unique_ptr<Connection>> MakeConnection(EventLoop& loop, UniqueFd fd,
                                                             Address peer);

  // Connections taken in one turn, so that the loop's own are not held up.
  static constexpr int kPerTurn = 64;
  // How many Close still takes, and how long it waits until loops that are busy have them.
  static constexpr int kLast = 1024;
  static constexpr Duration kLastWait = std::chrono::seconds(1);

  Parts parts_;
  EventLoop& loop_;
  AcceptGate gate_;
  InFlight pending_accepts_;  // posted and not run yet, or about to be posted
  EpisodeLog wait_log_;       // until none waits any more
  EpisodeLog drop_log_;       // until one is not dropped
  // With loop_ held.
  EpollSource::Watch watch_;
  bool watched_ = false;
  Backoff retry_{std::chrono::milliseconds(10), std::chrono::seconds(1)};
  Timer timer_;
};

}  // namespace farcall

#endif  // FARCALL_TRANSPORT_TCP_ACCEPTOR_H_
