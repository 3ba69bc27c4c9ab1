// SPDX-License-Identifier: Apache-2.0
//
// What completions bring to a MessageChannel: bytes, credits, and its end.

#include <utility>

#include "absl/strings/str_cat.h"
#include "transport/base/check.h"
#include "transport/base/trace.h"
#include "transport/rdma/channel/message_channel.h"
#include "transport/rdma/flow/message_header.h"
#include "transport/rdma/flow/wr_id.h"

namespace farcall {

void MessageChannel::OnCompletion(const ibv_wc& completion) {
  const WrId id = UnpackWrId(completion.wr_id);
  if (completion.status != IBV_WC_SUCCESS) OnError(completion);
  if (id.kind == WrId::Kind::kSend) return OnSent(id.slot);
  if (id.kind >= WrId::Kind::kBind) return OnLocal(id, completion.status == IBV_WC_SUCCESS);
  Check(id.kind == WrId::Kind::kReceive && id.slot < queue_->slots(),
        "a completion is of a work request that was posted");
  if (completion.status == IBV_WC_SUCCESS) return OnReceived(id.slot, completion.byte_len);
  queue_->ledger().OnConsumed(*member_);
  // Its own queue takes no receives any more, a shared one does.
  if (!own_queue_) queue_->Reuse(id.slot, /*bare=*/false);
}

void MessageChannel::OnError(const ibv_wc& completion) {
  if (!error_.ok()) return;
  lane_->breaks[CompletionStatusIndex(completion.status)].Add(1);
  windows_failed_ = completion.status == IBV_WC_MW_BIND_ERR;
  Fail(absl::UnavailableError(absl::StrCat(api_.ibv.wc_status_str(completion.status),
                                           " (vendor error 0x", absl::Hex(completion.vendor_err),
                                           ")")));
}

void MessageChannel::OnSent(uint32_t seq) {
  if (!flow_) return;
  const uint32_t freed = flow_->OnCompleted(seq);
  for (uint32_t i = 0; i < freed; ++i) {
    Sent& sent = sent_[(seq - i) & (sent_.size() - 1)];
    sent.data.Clear();
    sent.copy = BlockRef();
  }
  GiveRoom();
}

void MessageChannel::OnReceived(uint32_t slot, uint32_t bytes) {
  ++counters_.receives;
  lane_->messages_in.Add(1);
  const absl::string_view message(queue_->block(slot)->bytes(), bytes);
  const auto header = DecodeMessageHeader(message, references_);
  absl::Status good = header.status();
  // What is not taken below is not read either.
  if (good.ok() && !breached_) good = OnHeader(*header, message);
  const bool bare = bytes <= kMessageHeaderBytes;
  // What follows a message that was not taken would be taken for what comes behind the one before.
  if (!good.ok() || breached_) {
    breached_ = true;
    queue_->ledger().OnConsumed(*member_);
    queue_->Reuse(slot, /*bare=*/false);
    return Fail(std::move(good));
  }
  if (error_.ok()) may_send_ = true;
  if (bare) {
    ++bare_;
    queue_->Reuse(slot, /*bare=*/true);
  } else {
    queue_->ledger().OnConsumed(*member_);
    if (header->reference) {
      queue_->Reuse(slot, /*bare=*/false);
    } else {
      TakeBytes(slot, bytes);
    }
  }
  if (header->fin) ended_ = true;
}

// What it says, but for the bytes behind it. An error: the peer does not keep to the protocol.
absl::Status MessageChannel::OnHeader(const MessageHeader& header, absl::string_view message) {
  if (!flow_) return absl::InvalidArgumentError("the RDMA peer sent before it was to");
  absl::Status good = flow_->OnMessage(header.count);
  if (good.ok()) good = windows_.OnRead(header.references_read);
  if (!good.ok()) return good;
  if (ended_ && message.size() > kMessageHeaderBytes) {
    return absl::InvalidArgumentError("the RDMA peer sent bytes after its end");
  }
  if (!header.reference) return absl::OkStatus();
  const auto remote = DecodeRemoteBytes(message);
  if (!remote.ok()) return remote.status();
  good = incoming_.AddReference(*remote);
  UpdateReading();
  return good;
}

void MessageChannel::TakeBytes(uint32_t slot, uint32_t bytes) {
  const auto payload = bytes - static_cast<uint32_t>(kMessageHeaderBytes);
  counters_.bytes_read += payload;
  lane_->bytes_in.Add(payload);
  if (detached_) return queue_->Reuse(slot, /*bare=*/false);
  const absl::string_view copied(queue_->block(slot)->bytes() + kMessageHeaderBytes, payload);
  const bool small = bytes < limits_.copy_out_below;
  // Who keeps a message keeps its block: all of it, of which it needs less than half.
  const bool wasteful = !small && bytes < kReceiveBlock / 2 && memory_.IsShort();
  Buffer copy;
  const bool fits = (small || wasteful) && small_.Append(copied, copy);
  if (!fits && !small) {
    Buffer taken;
    taken.Append({queue_->Take(slot), uint32_t{kMessageHeaderBytes}, payload});
    return incoming_.AddBytes(std::move(taken));
  }
  // The heap, where the pool is at its limit: a few small messages, within the credits.
  if (!fits) copy.Append(copied);
  CountCopied(CopyCause::kReceivedSmall, payload);
  incoming_.AddBytes(std::move(copy));
  queue_->Reuse(slot, /*bare=*/false);
}

void MessageChannel::EndBatch() {
  Grant();
  if (user_ != nullptr) user_->OnChannel();
}

void MessageChannel::Starve() {
  if (user_ == nullptr || !flow_ || !flow_->PeerStandsStill()) return;
  user_->OnStarved();
}

void MessageChannel::Grant() {
  if (!flow_ || !member_ || !error_.ok()) return;
  const uint32_t given = queue_->ledger().Grant(*member_) + std::exchange(bare_, 0);
  if (given == 0) return;
  flow_->OnGranted(given);
  trace::Credit(number_, given, flow_->credits());
}

}  // namespace farcall
