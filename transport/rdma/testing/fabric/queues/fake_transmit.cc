// SPDX-License-Identifier: Apache-2.0
//
// What a queue pair does by itself: sends, is answered, waits, fails and flushes.

#include <string.h>

#include <algorithm>
#include <string>

#include "absl/strings/str_cat.h"
#include "transport/rdma/testing/fabric/device/fake_host.h"
#include "transport/rdma/testing/fabric/queues/fake_queue_pair.h"

namespace farcall {
namespace {

// Bytes go from one list of ranges into the other, which is as long in sum.
void Scatter(const FakeSend& send, const FakeReceive& receive) {
  int to = 0;
  uint32_t filled = 0;
  for (int from = 0; from < send.count; ++from) {
    uint32_t read = 0;
    while (read < send.ranges[from].length) {
      const ibv_sge& target = receive.ranges[to];
      const uint32_t step = std::min(send.ranges[from].length - read, target.length - filled);
      memcpy(MemoryAt(target.addr) + filled, MemoryAt(send.ranges[from].addr) + read, step);
      read += step;
      filled += step;
      if (filled == target.length) {
        ++to;
        filled = 0;
      }
    }
  }
}

ibv_wc_opcode OpcodeOf(ibv_wr_opcode opcode) {
  if (opcode == IBV_WR_BIND_MW) return IBV_WC_BIND_MW;
  if (opcode == IBV_WR_LOCAL_INV) return IBV_WC_LOCAL_INV;
  return opcode == IBV_WR_RDMA_READ ? IBV_WC_RDMA_READ : IBV_WC_SEND;
}

}  // namespace

bool FakeQp::CanMove() const {
  if (destroyed_) return false;
  if (state == IBV_QPS_ERR) return CanFlush();
  if (state != IBV_QPS_RTS) return false;
  return CanAnswer() || MayTransmit();
}

bool FakeQp::MayTransmit() const {
  if (wait_ != Wait::kNothing || sends_.idle()) return false;
  return sends_.Next().opcode != IBV_WR_RDMA_READ || asking_ < begins_;
}

void FakeQp::Move(uint64_t choice) {
  if (state == IBV_QPS_ERR) return FlushOne();
  const bool can_send = MayTransmit();
  if (CanAnswer() && (!can_send || choice % 2 == 0)) return Acknowledge();
  Transmit();
}

void FakeQp::Pump() {
  if (host_.options.mode != FakeMode::kImmediate) return;
  while (CanMove()) Move(/*choice=*/0);
}

bool FakeQp::CanAnswer() const { return wait_ != Wait::kLost && sends_.completed < sends_.sent; }

void FakeQp::OnReceivePosted() {
  if (destroyed_ || wait_ != Wait::kReceive) return;
  wait_ = Wait::kNothing;
  wait_until_ = 0;
  Pump();
}

void FakeQp::OnPeerChanged() {
  if (destroyed_ || wait_ == Wait::kNothing) return;
  if (wait_ == Wait::kReceive) {
    if (!peer_->destroyed_ && (peer_->state == IBV_QPS_RTS || peer_->state == IBV_QPS_RTR)) return;
    std::erase(peer_->receives().waiting, this);
  }
  wait_ = Wait::kNothing;
  wait_until_ = 0;
  Pump();
}

void FakeQp::Transmit() {
  FakeSend& send = sends_.At(sends_.sent);
  if (send.outcome != IBV_WC_SUCCESS && !send.outcome_after_delivery) {
    if (AnswerAll()) FailOldest(send.outcome, send.vendor_error);
    return;
  }
  if (send.opcode == IBV_WR_BIND_MW || send.opcode == IBV_WR_LOCAL_INV) return RunLocal(send);
  if (!Joined() || peer_->destroyed_ || peer_->state == IBV_QPS_ERR ||
      peer_->state == IBV_QPS_RESET || host_.Lost(device(), peer_->device())) {
    return WaitForAnswer();
  }
  if (peer_->state != IBV_QPS_RTS && peer_->state != IBV_QPS_RTR) {
    // Until its connection manager has made it ready.
    wait_ = Wait::kPeer;
    return;
  }
  if (send.opcode == IBV_WR_RDMA_READ) return Ask(send);
  FakeReceiveQueue& queue = peer_->receives();
  if (queue.empty()) return WaitForReceive(queue);
  rnr_left_ = rnr_retry_;
  Deliver(send, queue);
}

void FakeQp::Deliver(const FakeSend& send, FakeReceiveQueue& queue) {
  const FakeReceive receive = queue.Take();
  FakeQp& peer = *peer_;
  peer.received_ = true;
  sends_.CheckUnchanged(send);
  const bool fits = send.bytes <= receive.bytes;
  if (!fits || !receive.usable) {
    peer.CompleteReceive(receive, fits ? IBV_WC_LOC_PROT_ERR : IBV_WC_LOC_LEN_ERR, nullptr, qp_num);
    if (AnswerAll()) FailOldest(fits ? IBV_WC_REM_OP_ERR : IBV_WC_REM_INV_REQ_ERR, 0);
    return peer.Break();
  }
  if (const ibv_wc_status failed = peer.ReceiveFault(); failed != IBV_WC_SUCCESS) {
    peer.CompleteReceive(receive, failed, nullptr, qp_num);
    if (AnswerAll()) FailOldest(IBV_WC_REM_OP_ERR, 0);
    return peer.Break();
  }
  Scatter(send, receive);
  sends_.At(sends_.sent).delivered = true;
  ++sends_.sent;
  FakeCounters& counters = device().counters;
  ++counters.messages_out;
  counters.bytes_out += send.bytes;
  FakeCounters& peer_counters = peer.device().counters;
  ++peer_counters.messages_in;
  peer_counters.bytes_in += send.bytes;
  peer.CompleteReceive(receive, IBV_WC_SUCCESS, &send, qp_num);
}

ibv_wc_status FakeQp::ReceiveFault() {
  for (FakeDevice::ReceiveFault& fault : device().receive_faults) {
    if (fault.left > 0 && --fault.left == 0) return fault.status;
  }
  return IBV_WC_SUCCESS;
}

void FakeQp::Acknowledge() {
  if (peer_ != nullptr && host_.Lost(device(), peer_->device())) return WaitForAnswer();
  FakeSend& send = sends_.At(sends_.completed);
  sends_.CheckUnchanged(send);
  if (send.opcode == IBV_WR_RDMA_READ) TakeAnswer(send);
  if (send.outcome == IBV_WC_SUCCESS) {
    if (send.signaled) {
      CompleteSend(IBV_WC_SUCCESS, 0);
    } else {
      ++sends_.completed;
    }
    return;
  }
  CompleteSend(send.outcome, send.vendor_error);
  Break();
}

void FakeQp::WaitForReceive(FakeReceiveQueue& queue) {
  FakeCounters& counters = peer_->device().counters;
  ++counters.rnrs;
  if (device().iwarp()) {
    // It has no receiver-not-ready: the stream ends.
    if (AnswerAll()) FailOldest(IBV_WC_FATAL_ERR, 0);
    return peer_->Break();
  }
  if (rnr_retry_ < 7) {
    if (rnr_left_ == 0) {
      if (AnswerAll()) FailOldest(IBV_WC_RNR_RETRY_EXC_ERR, 0);
      return;
    }
    --rnr_left_;
    wait_until_ = host_.now + host_.options.rnr_steps;
  }
  wait_ = Wait::kReceive;
  queue.waiting.push_back(this);
}

void FakeQp::WaitForAnswer() {
  wait_ = Wait::kLost;
  // The driver rxe takes 7 for ever.
  const bool for_ever = device().options.link == FakeLink::kRoce && retry_count_ == 7;
  if (for_ever || (peer_ != nullptr && host_.Silent(device(), peer_->device()))) return;
  wait_until_ = host_.now + host_.options.retry_steps;
}

bool FakeQp::OnTime(uint64_t now) {
  if (wait_until_ == 0 || now < wait_until_) return false;
  wait_until_ = 0;
  if (wait_ == Wait::kReceive) {
    std::erase(peer_->receives().waiting, this);
    wait_ = Wait::kNothing;
    Transmit();
    Pump();
    return true;
  }
  FailOldest(IBV_WC_RETRY_EXC_ERR, 0);
  return true;
}

bool FakeQp::AnswerAll() {
  while (state == IBV_QPS_RTS && CanAnswer()) Acknowledge();
  return state == IBV_QPS_RTS;
}

void FakeQp::FailOldest(ibv_wc_status status, uint32_t vendor_error) {
  if (sends_.sent == sends_.completed) ++sends_.sent;
  CompleteSend(status, vendor_error);
  Break();
}

void FakeQp::CompleteSend(ibv_wc_status status, uint32_t vendor_error) {
  const FakeSend& send = sends_.At(sends_.completed);
  FakeCompletion completion;
  completion.wr_id = send.wr_id;
  completion.status = status;
  completion.vendor_error = vendor_error;
  completion.opcode = OpcodeOf(send.opcode);
  completion.qp_num = qp_num;
  completion.sender = this;
  completion.position = sends_.completed++;
  send_cq_.Push(completion);
}

void FakeQp::CompleteReceive(const FakeReceive& receive, ibv_wc_status status, const FakeSend* send,
                             uint32_t source) {
  FakeCompletion completion;
  completion.wr_id = receive.wr_id;
  completion.status = status;
  completion.opcode = IBV_WC_RECV;
  completion.qp_num = qp_num;
  completion.src_qp = source;
  completion.receives = &receives();
  if (send != nullptr) {
    completion.byte_len = send->bytes;
    completion.solicited = send->solicited;
    if (send->with_imm) {
      completion.flags = IBV_WC_WITH_IMM;
      completion.imm_data = send->imm_data;
    }
  }
  receive_cq_.Push(completion);
}

bool FakeQp::CanFlush() const {
  const bool gives_back = !ahead_.empty() && !device().keeps_receives;
  return Flushes() && (!sends_.answered() || !own_receives_.empty() || gives_back);
}

void FakeQp::FlushOne() {
  if (!sends_.answered()) {
    if (sends_.sent == sends_.completed) ++sends_.sent;
    WriteLate(sends_.At(sends_.completed));
    return CompleteSend(IBV_WC_WR_FLUSH_ERR, 0);
  }
  if (!ahead_.empty() && !device().keeps_receives) {
    CompleteReceive(ahead_.back(), IBV_WC_WR_FLUSH_ERR, nullptr, 0);
    ahead_.pop_back();
    if (ahead_.empty()) RaiseLastReceive();
    return;
  }
  CompleteReceive(own_receives_.Take(), IBV_WC_WR_FLUSH_ERR, nullptr, 0);
}

}  // namespace farcall
