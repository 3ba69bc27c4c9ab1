// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_TRANSPORT_TCP_TCP_CONNECTION_H_
#define FARCALL_TRANSPORT_TCP_TCP_CONNECTION_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>

#include "absl/status/status.h"
#include "transport/base/backoff.h"
#include "transport/base/time.h"
#include "transport/buffer/block_pool.h"
#include "transport/buffer/buffer.h"
#include "transport/carrier/drain_mark.h"
#include "transport/connection_info.h"
#include "transport/loop/event_loop.h"
#include "transport/loop/posted_call.h"
#include "transport/tcp/socket_reader.h"
#include "transport/tcp/socket_writer.h"
#include "transport/tcp/watched_socket.h"
#include "transport/transport.h"

namespace farcall {

// A Connection over a connected stream socket: TCP or unix.
//
// Edge-triggered: readable_ and writable_ hold what the last edge said until a system
// call says otherwise, so the usual message costs one readv(2), and a turn's output one
// sendmsg(2). What must wait for a later turn (the rest of a long read or write,
// OnDrained, what ResumeRead brings) is a timer that is due at once: other connections
// come between, and it ends with its connection. OnClose comes from the mailbox.
class TcpConnection final : public Connection, private FdHandler, private Flushable {
 public:
  // The socket's loop is held. `pool` outlives the Connection.
  TcpConnection(std::unique_ptr<WatchedSocket> socket, BlockPool& pool,
                const ConnectionOptions& options, Address local, Address peer);
  TcpConnection(const TcpConnection&) = delete;
  TcpConnection& operator=(const TcpConnection&) = delete;
  ~TcpConnection() override;

  void Start(Handler& handler) override;
  void Write(Buffer data) override;
  void PauseRead() override { paused_ = true; }
  void ResumeRead() override;
  void Close(absl::Status why, CloseMode mode) override;
  size_t backlog() const override { return writer_.backlog(); }
  size_t unacknowledged() const override;
  BlockPool& pool() override { return pool_; }
  ConnectionInfo info() const override { return info_; }

 private:
  enum class State : uint8_t {
    kOpen,
    kFlushing,  // Close(kFlush): writes what waits, then its end; discards what comes
    kClosed,    // the socket is closed, OnClose is posted or over
  };

  void OnReady(uint32_t events) override;
  void Flush() override;
  void OnSoon();
  void Soon(Duration delay = Duration::zero());
  void CountBulk();
  bool BesideOthers(size_t bytes) const;
  size_t PerTurn() const;
  void ReadSome();
  void ReadTurn();
  bool Took(const SocketResult& result);
  void Deliver();
  void DiscardTurn();
  void WriteTurn();
  void EndFlush();
  void OnWriteFailed(int error);
  bool Starved();
  absl::Status Lost(int error) const;
  void Finish(absl::Status why);

  // Bytes per connection, direction and turn, so that no connection holds up the others; and where
  // others have something to do: who has more than that to read or to send does so behind them, at
  // the end of the turn, and in one direction at a time.
  static constexpr size_t kPerTurn = size_t{1} << 20;
  static constexpr size_t kPerTurnBesideOthers = size_t{32} << 10;
  // Who has not read for so long does it at once: in this turn a timer may fire that accuses the
  // peer of silence.
  static constexpr Duration kLongUnread = std::chrono::milliseconds(50);
  // So many events after it had bulk last, others need not make way for it.
  static constexpr int kBulkEvents = 64;
  // Without memory to read for so long, a connection that holds part of a message gives it up:
  // those blocks may be just what all others wait for.
  static constexpr Duration kStarved = std::chrono::seconds(1);

  EventLoop& loop_;
  BlockPool& pool_;
  const ConnectionOptions options_;
  ConnectionInfo info_;
  std::unique_ptr<WatchedSocket> socket_;
  SocketReader reader_;
  SocketWriter writer_;
  Handler* handler_ = nullptr;  // since Start

  State state_ = State::kOpen;
  absl::Status why_;   // for OnClose, from Close on
  absl::Status lost_;  // what a write failed with, while input is still delivered
  bool readable_ = true;
  bool writable_ = true;
  // The peer has ended or broken something, so only end of file or EAGAIN ends a read. True
  // at first: edges before Start are lost.
  bool hung_up_ = true;
  bool paused_ = false;
  TimePoint read_at_{};
  int bulk_events_ = 0;       // left of kBulkEvents
  bool read_later_ = false;   // at the end of the turn
  bool behind_ = false;       // Flush comes once more, behind the others
  bool writes_next_ = false;  // of both directions
  bool redeliver_ = false;    // OnRead is due for input that was left when reading paused
  DrainMark drain_;
  bool shut_ = false;        // kFlushing: our end was sent
  bool peer_ended_ = false;  // kFlushing: the peer's end was read
  Backoff retry_ = Backoff::ForMemory();
  std::optional<TimePoint> starving_since_;  // no memory to read
  Timer soon_;
  Timer close_timer_;
  PostedCall on_close_;
};

}  // namespace farcall

#endif  // FARCALL_TRANSPORT_TCP_TCP_CONNECTION_H_
