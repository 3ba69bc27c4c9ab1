// SPDX-License-Identifier: Apache-2.0
//
// MessageChannel: the channel between two ends of this library. Each message has a header with
// credits (message_header.h); large bytes may be referred to, and fetched by RDMA READ.

#ifndef FARCALL_TRANSPORT_RDMA_CHANNEL_MESSAGE_CHANNEL_H_
#define FARCALL_TRANSPORT_RDMA_CHANNEL_MESSAGE_CHANNEL_H_

#include <infiniband/verbs.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/functional/any_invocable.h"
#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "transport/buffer/buffer.h"
#include "transport/copy_tally.h"
#include "transport/rdma/channel/pair_channel.h"
#include "transport/rdma/flow/credit_flow.h"
#include "transport/rdma/flow/memory_window_ring.h"
#include "transport/rdma/flow/message_header.h"
#include "transport/rdma/flow/message_plan.h"
#include "transport/rdma/flow/private_data.h"
#include "transport/rdma/flow/read_choice.h"
#include "transport/rdma/flow/wr_id.h"
#include "transport/rdma/verbs/verbs_api.h"
#include "transport/rdma_options.h"

namespace farcall {

// All with the data loop held, but the constructor.
class MessageChannel final : public PairChannel {
 public:
  // As PairChannel.
  MessageChannel(const VerbsApi& api, BlockPool& pool, size_t device, ibv_qp& pair,
                 const Limits& limits, uint32_t own_slots, CopyTally* copied = nullptr)
      : PairChannel(api, pool, device, pair, limits, own_slots, copied),
        choice_(limits.reads_why) {}

  // Both ends' parts are known. The initiator sends the first message, at once. `windows`: those
  // by which references are sent, perhaps fewer than agreed; they live until the
  // queue pair is destroyed.
  void Open(const ReceiveTerms& own, const ReceiveTerms& peer, bool initiator,
            std::vector<ibv_mw*> windows = {});

  void Leave() override;
  void Detach() override;
  void SetReading(bool reading) override;
  bool Send(Buffer& out, bool fin) override;
  bool SendNow(absl::string_view head, const Buffer& body) override;
  bool HasUpdate() const override;
  bool ended() const override { return ended_ && incoming_.clear(); }
  bool flushed() const override { return fin_sent_ && ended() && quiet(); }
  bool quiet() const override { return posted_messages() == 0 && windows_.open() == 0; }
  uint32_t credits() const override { return flow_ ? flow_->credits() : 0; }
  ReadsUse reads_use() const override { return choice_.use(); }
  uint64_t references_read() const override { return references_read_; }
  bool fetches() const override { return most_reads_ > 0; }
  void DropUnread() override;
  void WhenReadsEnd(absl::AnyInvocable<void()> done) override;
  bool windows_failed() const override { return windows_failed_; }
  bool idle() const override {
    return posted_messages() == 0 && closing_ == 0 && incoming_.reading() == 0;
  }
  void OnCompletion(const ibv_wc& completion) override;
  void Grant() override;
  void Starve() override;

 private:
  // Bytes of one reference that is sent; and of READs under way, after which no other is begun.
  // With 4 MiB at once rxe loses answers, and waits for its ACK timeout; 512 KiB fill a wire of
  // 100 Gb/s for 40 us, and are four READs, if both devices do so many at a time (most_reads_):
  // what a device cannot begin yet would hold up the messages behind it.
  static constexpr uint32_t kReference = 256 << 10;
  static constexpr uint64_t kMaxFetched = 512 << 10;

  // Bytes that SendNow takes at most, without a header.
  static constexpr size_t kMostNow = 512;

  // Completions of a window, bound and invalidated.
  static constexpr uint32_t kOfWindow = 2;

  uint32_t posted_messages() const { return flow_ ? flow_->unfinished() : 0; }
  void OnReceived(uint32_t slot, uint32_t bytes);
  absl::Status OnHeader(const MessageHeader& header, absl::string_view message);
  void OnSent(uint32_t seq);
  Wait WaitFor(const Buffer& out, bool memory) const;
  bool TakeReadRoom();
  bool FillBatch(Buffer& out, bool fin);
  MessagePlan Plan(const Buffer& out, uint32_t max_copy) const;
  bool MayRefer() const;
  bool AddBare(bool fin);
  bool CountsDue() const;
  bool ReadsUnreported() const { return told_read_ != incoming_.read(); }
  void AddMessage(Buffer& out, const MessagePlan& plan, const SendPlan& send, bool fin);
  MessageHeader HeaderOf(const SendPlan& send);
  void MeasurePosted(const MessagePlan& plan);
  void UpdateReading();

  // message_channel_references.cc
  bool MayBind() const;
  BlockRef AddReference(Buffer& out, const MessagePlan& plan, const MessageHeader& header,
                        const SendPlan& send);
  void CloseWindows();
  absl::Status OnReferencesRead(uint16_t count);
  void OnLocal(const WrId& id, bool good);
  void OnRead(bool good);
  bool ReadSome() override;
  bool MayRead();
  bool PostNextRead();
  Buffer MemoryFor(const IncomingStream::Place& place, std::shared_ptr<void>& hold);
  Buffer Blocks(uint32_t bytes);
  void EndReads();

  std::optional<CreditFlow> flow_;
  MessageLimits message_limits_;
  bool hello_due_ = false;  // the initiator: until its first message is sent

  References references_ = References::kNo;
  std::vector<ibv_mw*> window_handles_;
  std::vector<Buffer> opened_;  // what each is bound to
  MemoryWindowRing windows_{0};
  uint32_t closing_ = 0;  // invalidations under way
  uint64_t references_read_ = 0;
  ReadChoice choice_;
  // Taken of room_: kOfWindow for each window that is not free, and of READs all but kOwnReads.
  uint32_t window_room_ = 0;
  uint32_t read_room_ = 0;
  uint32_t most_reads_ = 0;  // at a time
  bool windows_failed_ = false;
  bool bind_waits_ = false;  // until MayBind
  uint64_t told_read_ = 0;   // of incoming_.read()
  absl::AnyInvocable<void()> reads_end_;
  bool reading_ = false;  // the user does
  uint32_t bare_ = 0;     // bare messages that came; their receives are given back
  bool ended_ = false;
};

}  // namespace farcall

#endif  // FARCALL_TRANSPORT_RDMA_CHANNEL_MESSAGE_CHANNEL_H_
