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
  windows_failed_ |= error_.ok() && completion.status == IBV_WC_MW_BIND_ERR;
  if (completion.status != IBV_WC_SUCCESS) OnError(completion);
  if (id.kind == WrId::Kind::kSend) return OnSent(id.slot);
  Check(id.kind != WrId::Kind::kNone, "a completion is of a work request that was posted");
  if (!id.is_receive()) return OnLocal(id, completion.status == IBV_WC_SUCCESS);
  Check(id.slot < queue_->slots(), "a receive has a slot of its queue");
  if (completion.status == IBV_WC_SUCCESS) return OnReceived(id.slot, completion.byte_len);
  queue_->ledger().OnConsumed(*member_);
  // Its own queue takes no receives any more, a shared one does.
  if (!own_queue_) queue_->Reuse(id.slot, /*bare=*/false);
}

void MessageChannel::OnSent(uint32_t seq) {
  if (!flow_) return;
  const uint64_t measured = Release(seq, flow_->OnCompleted(seq));
  if (measured > 0) choice_.OnDelivered(ReadChoice::kSend, measured, clock_->Now());
  GiveRoom(posted_messages());
}

void MessageChannel::OnReceived(uint32_t slot, uint32_t bytes) {
  ++counters_.receives;
  poller_->messages_in.Add(1);
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
      TakeBytes(slot, kMessageHeaderBytes, bytes);
    }
  }
  if (header->fin) ended_ = true;
}

// What it says, but for the bytes behind it. An error: the peer does not keep to the protocol.
absl::Status MessageChannel::OnHeader(const MessageHeader& header, absl::string_view message) {
  if (!flow_) return absl::InvalidArgumentError("the RDMA peer sent before it was to");
  absl::Status good = flow_->OnMessage(header.count);
  if (good.ok()) good = OnReferencesRead(header.references_read);
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
