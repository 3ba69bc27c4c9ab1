// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_TRANSPORT_RDMA_CHANNEL_RDMA_CONNECTION_H_
#define FARCALL_TRANSPORT_RDMA_CHANNEL_RDMA_CONNECTION_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "absl/functional/any_invocable.h"
#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "transport/base/backoff.h"
#include "transport/base/time.h"
#include "transport/buffer/block_pool.h"
#include "transport/buffer/buffer.h"
#include "transport/carrier/drain_mark.h"
#include "transport/connection_info.h"
#include "transport/loop/event_loop.h"
#include "transport/loop/posted_call.h"
#include "transport/rdma/channel/pair_channel.h"
#include "transport/transport.h"

namespace farcall {

// A Connection over a queue pair: the contract of transport.h on top of a PairChannel.
//
// Between two ends of this library its orderly end is the FIN of the last message, as with TCP: who
// hears it delivers what came, ends and disconnects; who sent it waits for that, so that nothing is
// lost on the way. On brpc's wire it is the end of the TCP connection beside it. What must wait for
// a later turn (OnDrained, what ResumeRead brings) is a timer that is due at once. OnClose comes
// from the mailbox, and not before nothing is written any more to where Handler::PlaceFor said.
class RdmaConnection final : public Connection, private PairChannel::User, private Flushable {
 public:
  struct Parts {
    EventLoop& loop;
    BlockPool& pool;  // outlives the Connection
    std::shared_ptr<PairChannel> channel;
    // Called once, when the Connection has let go of the channel: the queue pair ends.
    absl::AnyInvocable<void()> retire;
    ConnectionOptions options;
    ConnectionInfo info;  // ends and device
  };

  // With the loop held; the channel is open.
  explicit RdmaConnection(Parts parts);
  RdmaConnection(const RdmaConnection&) = delete;
  RdmaConnection& operator=(const RdmaConnection&) = delete;
  ~RdmaConnection() override;

  void Start(Handler& handler) override;
  void Write(Buffer data) override;
  bool SendNow(absl::string_view head, const Buffer& body) override;
  void PauseRead() override;
  void ResumeRead() override;
  void Close(absl::Status why, CloseMode mode) override;
  size_t backlog() const override { return out_.size(); }
  BlockPool& pool() override { return parts_.pool; }
  ConnectionInfo info() const override;
  void TrustPeer() override { channel_.TrustPeer(); }

 private:
  enum class State : uint8_t {
    kOpen,
    kFlushing,  // Close(kFlush): sends what waits, then its end; discards what comes
    kClosed,    // the channel is let go of, OnClose is posted or over
  };

  void OnChannel() override;
  void OnStarved() override;
  Buffer PlaceFor(size_t ahead, size_t bytes) override { return handler_->PlaceFor(ahead, bytes); }
  std::shared_ptr<void> HoldPlace() override { return handler_->HoldPlace(); }
  void Flush() override;
  void OnSoon();
  void Soon(Duration delay = Duration::zero());
  void ReadTurn();
  void Fetch();
  void WatchFetch();
  void EndRead();
  void EndFlush();
  absl::Status Lost() const;
  void LetGo();
  void FinishWithoutMemory();
  void Finish(absl::Status why);

  // Without memory for so long to fetch what the peer has referred to, it is given up.
  static constexpr Duration kStarved = std::chrono::seconds(1);
  // A READ that is not answered for so long, and then for the grace, ends the connection: memory
  // that it may write to is not used otherwise until then.
  static constexpr Duration kFetchTimeout = std::chrono::seconds(1);
  static constexpr Duration kFetchGrace = std::chrono::milliseconds(100);

  Parts parts_;
  EventLoop& loop_;
  PairChannel& channel_;
  Handler* handler_ = nullptr;  // since Start
  Buffer out_;

  State state_ = State::kOpen;
  absl::Status why_;  // for OnClose, from Close on
  bool paused_ = false;
  bool left_ = false;       // the handler has left bytes of the input there
  bool redeliver_ = false;  // OnRead is due for input that was left when reading paused
  DrainMark drain_;
  // Without memory.
  Backoff retry_ = Backoff::ForMemory();
  Backoff fetch_retry_ = Backoff::ForMemory();
  std::optional<TimePoint> starving_since_;
  Timer soon_;
  Timer close_timer_;
  Timer fetch_timer_;  // pending while something is being fetched
  bool fetch_late_ = false;
  uint64_t fetches_ = 0;  // READs that had completed when it was set
  PostedCall on_close_;
};

}  // namespace farcall

#endif  // FARCALL_TRANSPORT_RDMA_CHANNEL_RDMA_CONNECTION_H_
