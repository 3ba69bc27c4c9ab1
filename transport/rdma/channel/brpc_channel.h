// SPDX-License-Identifier: Apache-2.0
//
// BrpcChannel: the channel to an end that is brpc. The bytes of messages are those of the stream,
// and beside each goes what brpc_credits.h says. The end of the stream has no message: it is that
// of the TCP connection on which the queue pair was set up.
//
// It has a receive queue of its own. What this wire promises, it promises once and in full: the
// peer may send its whole window at any time, without asking, and its queue pair ends at the first
// message that finds no receive. So of a shared queue it would hold as many for good, and the first
// connection that does not keep to its credits would take those of all others.

#ifndef FARCALL_TRANSPORT_RDMA_CHANNEL_BRPC_CHANNEL_H_
#define FARCALL_TRANSPORT_RDMA_CHANNEL_BRPC_CHANNEL_H_

#include <cstdint>
#include <optional>

#include "transport/brpc_end.h"
#include "transport/rdma/channel/pair_channel.h"
#include "transport/rdma/flow/brpc_credits.h"
#include "transport/rdma/flow/message_plan.h"

namespace farcall {

// All with the data loop held, but the constructor.
class BrpcChannel final : public PairChannel {
 public:
  // As PairChannel; `own_slots` > 0.
  BrpcChannel(const VerbsApi& api, BlockPool& pool, size_t device, ibv_qp& pair,
              const Limits& limits, uint32_t own_slots, CopyTally* copied = nullptr)
      : PairChannel(api, pool, device, pair, limits, own_slots, copied) {}

  // kCapacity: not all of its receives could be posted.
  absl::Status Join(ReceiveQueue& queue, SendBatch& batch, CompletionQueueBudget& room,
                    DevicePollerCounters& poller, const Clock& clock,
                    PeerTrust trust = PeerTrust::kTrusted) override;
  // Both ends' parts are known. What comes from now on is kept, and nothing is sent.
  void Open(const BrpcEnd& own, const BrpcEnd& peer);
  // The client's decision has come, or is with the server.
  void MaySend() { may_send_ = error_.ok(); }
  // The TCP connection has ended. DevicePoller::Break follows, which takes what had come before.
  void OnPeerEnd() { peer_ended_ = true; }

  void Leave() override;
  void Detach() override;
  void SetReading(bool reading) override;
  bool Send(Buffer& out, bool fin) override;
  bool HasUpdate() const override { return may_send_ && credits_->BareIsDue(); }
  bool ended() const override { return peer_ended_ && !error_.ok(); }
  bool flushed() const override { return fin_sent_ && quiet(); }
  bool quiet() const override { return unfinished() == 0; }
  bool idle() const override { return quiet(); }
  uint32_t credits() const override { return credits_ ? credits_->credits() : 0; }
  void OnCompletion(const ibv_wc& completion) override;
  void Grant() override;
  void Starve() override;

 private:
  uint32_t unfinished() const { return credits_ ? credits_->unfinished() : 0; }
  bool FillBatch(Buffer& out);
  bool AddBytes(Buffer& out);
  void AddBare();
  void OnReceived(uint32_t slot, const ibv_wc& completion);
  absl::Status OnMessage(const ibv_wc& completion);

  std::optional<BrpcCredits> credits_;
  MessageLimits message_limits_;
  bool reading_ = false;  // the user does
  uint32_t came_ = 0;     // messages with bytes; wraps
  uint32_t posted_ = 0;   // of them, whose receives were posted again and reported to credits_
  bool peer_ended_ = false;
};

}  // namespace farcall

#endif  // FARCALL_TRANSPORT_RDMA_CHANNEL_BRPC_CHANNEL_H_
