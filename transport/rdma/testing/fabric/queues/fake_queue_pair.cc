// SPDX-License-Identifier: Apache-2.0

#include "transport/rdma/testing/fabric/queues/fake_queue_pair.h"

#include <errno.h>

#include <algorithm>

#include "transport/rdma/testing/fabric/device/fake_host.h"
#include "transport/rdma/testing/fabric/device/fake_subject.h"
#include "transport/rdma/testing/fabric/queues/fake_qp_table.h"

namespace farcall {

FakeQp::FakeQp(FakeQpTable& table, rdma_cm_id* cm_id, FakePd& domain, const ibv_qp_init_attr& init,
               uint32_t number)
    : ibv_qp{},
      host_(domain.owner.host),
      table_(table),
      id_(cm_id),
      domain_(domain),
      send_cq_(*static_cast<FakeCq*>(init.send_cq)),
      receive_cq_(*static_cast<FakeCq*>(init.recv_cq)),
      shared_(static_cast<FakeSrq*>(init.srq)),
      init_(init),
      own_receives_(host_, domain, init.srq != nullptr ? 0 : init.cap.max_recv_wr,
                    init.cap.max_recv_sge),
      sends_(host_, domain, init.cap) {
  context = domain.context;
  qp_context = init.qp_context;
  pd = &domain;
  send_cq = init.send_cq;
  recv_cq = init.recv_cq;
  srq = init.srq;
  qp_num = number;
  qp_type = init.qp_type;
  // rdma_create_qp(3) leaves it so: receives may be posted.
  state = id_ != nullptr ? IBV_QPS_INIT : IBV_QPS_RESET;
  if (id_ != nullptr) id_->qp = this;
  ++domain_.users;
  ++send_cq_.queue_pairs;
  ++receive_cq_.queue_pairs;
  if (shared_ != nullptr) ++shared_->queue_pairs;
}

int FakeQp::PostSend(const ibv_send_wr& request) {
  const bool with_imm = request.opcode == IBV_WR_SEND_WITH_IMM;
  // iWARP has no immediate data.
  const bool windows = device().options.max_mw > 0 &&
                       (request.opcode == IBV_WR_BIND_MW || request.opcode == IBV_WR_LOCAL_INV);
  if (request.opcode != IBV_WR_SEND && request.opcode != IBV_WR_RDMA_READ && !windows &&
      (!with_imm || device().iwarp())) {
    return EINVAL;
  }
  if (request.opcode == IBV_WR_RDMA_READ && request.num_sge > device().options.max_sge_rd) {
    return EINVAL;
  }
  const bool signaled = init_.sq_sig_all != 0 || (request.send_flags & IBV_SEND_SIGNALED) != 0;
  const uint64_t position = sends_.posted();
  if (const int error = sends_.Post(request, signaled); error != 0) return error;
  FakeSend& send = sends_.At(position);
  FakeCounters& counters = device().counters;
  ++counters.sends_posted;
  if (signaled) ++counters.signaled_sends;
  if (send.inlined) ++counters.inline_sends;
  if (request.opcode == IBV_WR_RDMA_READ) CountReads();
  if (device().iwarp() && passive_ && !received_ && state == IBV_QPS_RTS) {
    host_.Violation("the passive side of an iWARP connection sent before it received");
  }
  for (FakeDevice::SendFault& fault : device().send_faults) {
    if (fault.left == 0 || --fault.left != 0) continue;
    send.outcome = fault.status;
    send.vendor_error = fault.vendor_error;
    send.outcome_after_delivery = fault.delivered;
  }
  return 0;
}

void FakeQp::CountReads() {
  uint64_t reads = 0;
  for (uint64_t at = sends_.completed; at < sends_.posted(); ++at) {
    reads += sends_.At(at).opcode == IBV_WR_RDMA_READ ? 1 : 0;
  }
  uint64_t& most = device().counters.reads_at_once;
  most = std::max(most, reads);
}

int FakeQp::PostReceive(const ibv_recv_wr& request) {
  if (shared_ != nullptr || state == IBV_QPS_RESET) return EINVAL;
  return own_receives_.Post(request);
}

int FakeQp::Modify(const ibv_qp_attr& attr, int mask) {
  const ibv_qp_state next = (mask & IBV_QP_STATE) != 0 ? attr.qp_state : state;
  if ((mask & IBV_QP_CUR_STATE) != 0 && attr.cur_qp_state != state) return EINVAL;
  if (state == IBV_QPS_RESET && next == IBV_QPS_ERR) return EINVAL;
  if (next == IBV_QPS_ERR && mask == IBV_QP_STATE) {
    Break();
    return 0;
  }
  if (id_ == nullptr && next != state) return ModifyByVerbs(attr, mask);
  // The connection manager makes the other steps; of RTS to RTS the specification of
  // InfiniBand allows few attributes.
  constexpr int kAllowed =
      IBV_QP_STATE | IBV_QP_CUR_STATE | IBV_QP_ACCESS_FLAGS | IBV_QP_MIN_RNR_TIMER;
  if (next != IBV_QPS_RTS || state != IBV_QPS_RTS || (mask & ~kAllowed) != 0) return EINVAL;
  if ((mask & IBV_QP_MIN_RNR_TIMER) != 0) {
    if (attr.min_rnr_timer > 31) return EINVAL;
    min_rnr_timer_ = attr.min_rnr_timer;
  }
  return 0;
}

ibv_qp_attr FakeQp::Attributes() const {
  ibv_qp_attr attr{};
  attr.qp_state = attr.cur_qp_state = state;
  attr.path_mtu = id_ != nullptr ? device().options.active_mtu : path_mtu_;
  attr.dest_qp_num = peer_ != nullptr ? peer_->qp_num : 0;
  attr.cap = init_.cap;
  attr.port_num = 1;
  attr.timeout = ack_timeout_;
  attr.retry_cnt = retry_count_;
  attr.rnr_retry = rnr_retry_;
  attr.min_rnr_timer = min_rnr_timer_;
  attr.max_rd_atomic = begins_;
  attr.max_dest_rd_atomic = answers_;
  attr.pkey_index = partition_index_;
  attr.ah_attr = path_;
  return attr;
}

void FakeQp::Connect(FakeQp& peer, bool passive, uint8_t retry_count, uint8_t rnr_retry,
                     uint8_t ack_timeout) {
  peer_ = &peer;
  passive_ = passive;
  retry_count_ = std::min<uint8_t>(retry_count, 7);
  rnr_retry_ = std::min<uint8_t>(rnr_retry, 7);
  ack_timeout_ = ack_timeout;
  rnr_left_ = rnr_retry_;
  state = IBV_QPS_RTS;
  peer.OnPeerChanged();
}

void FakeQp::SetReads(uint8_t begins, uint8_t answers) {
  begins_ = begins;
  answers_ = answers;
}

void FakeQp::Break() {
  if (state == IBV_QPS_ERR) return;
  const bool was_connected = state == IBV_QPS_RTS || state == IBV_QPS_RTR;
  state = IBV_QPS_ERR;
  failed_at_ = std::chrono::steady_clock::now();
  wait_ = Wait::kNothing;
  wait_until_ = 0;
  if (was_connected) TakeAhead();
  if (ahead_.empty()) RaiseLastReceive();
  Pump();
  // iWARP runs over one TCP stream, which breaks for both.
  if (was_connected && device().iwarp()) table_.on_stream_broken(*this, peer_);
  if (peer_ != nullptr) peer_->OnPeerChanged();
}

void FakeQp::TakeAhead() {
  if (shared_ == nullptr || !Flushes() || device().removed) return;
  while (ahead_.size() < device().options.receives_ahead && !shared_->receives.empty()) {
    ahead_.push_back(shared_->receives.Take());
  }
}

void FakeQp::RaiseLastReceive() {
  if (shared_ == nullptr || !device().options.last_wqe_events || device().removed ||
      device().keeps_receives) {
    return;
  }
  ibv_async_event event{};
  event.element.qp = this;
  event.event_type = IBV_EVENT_QP_LAST_WQE_REACHED;
  owner().async.Push(event);
}

void FakeQp::Destroy() {
  if (host_.memory.HasWindowFor(*this)) {
    host_.Violation("a queue pair was destroyed with a window bound for it: rxe waits a minute");
  }
  const auto may_be_destroyed_at = failed_at_ + device().options.last_wqe_patience;
  if (!ahead_.empty() && device().options.last_wqe_events && !device().removed &&
      !device().keeps_receives && std::chrono::steady_clock::now() < may_be_destroyed_at) {
    host_.Violation(
        "a queue pair was destroyed before IBV_EVENT_QP_LAST_WQE_REACHED: the shared queue has "
        "lost receives");
  }
  for (; sends_.completed < sends_.sent; ++sends_.completed) {
    WriteLate(sends_.At(sends_.completed));
  }
  ahead_.clear();
  owner().async.RemoveIf([this](const ibv_async_event& event) {
    return SubjectOf(event.event_type) == FakeSubject::kQueuePair && event.element.qp == this;
  });
  const bool was_connected = state == IBV_QPS_RTS;
  destroyed_ = true;
  state = IBV_QPS_RESET;
  wait_until_ = 0;
  own_receives_.Clear();
  sends_.Clear();
  --domain_.users;
  --send_cq_.queue_pairs;
  --receive_cq_.queue_pairs;
  if (shared_ != nullptr) {
    --shared_->queue_pairs;
    std::erase_if(shared_->receives.waiting, [&](FakeQp* qp) { return qp == peer_; });
  }
  if (was_connected && device().iwarp()) table_.on_stream_broken(*this, peer_);
  if (peer_ != nullptr) peer_->OnPeerChanged();
}

bool FakeQp::Holds(const FakeMr& region) const {
  if (destroyed_) return false;
  // Nothing will come of what a device that does not flush has been given.
  if (state == IBV_QPS_ERR && !Flushes()) return false;
  return sends_.Holds(region) || own_receives_.Holds(region);
}

bool FakeQp::Flushes() const {
  return device().removed ? device().flush_when_removed : device().options.flushes;
}

}  // namespace farcall
