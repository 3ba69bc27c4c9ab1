// SPDX-License-Identifier: Apache-2.0
//
// A queue pair without rdma_cm: the steps of ibv_modify_qp(3) for a reliable connected one, with
// the attributes that the specification of InfiniBand requires (IBTA, 11.2.5.2).

#include <errno.h>
#include <string.h>

#include <algorithm>

#include "transport/rdma/testing/fabric/queues/fake_qp_table.h"
#include "transport/rdma/testing/fabric/queues/fake_queue_pair.h"

namespace farcall {
namespace {

constexpr uint32_t kNumbers = 1u << 24;

constexpr int kToInit = IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS;
constexpr int kToReceive = IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN |
                           IBV_QP_RQ_PSN | IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER;
constexpr int kToSend = IBV_QP_STATE | IBV_QP_SQ_PSN | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT |
                        IBV_QP_RNR_RETRY | IBV_QP_MAX_QP_RD_ATOMIC;

bool HasGidAt(const FakeDevice& device, uint32_t index) {
  const std::vector<ibv_gid_entry> gids = device.Gids();
  return std::any_of(gids.begin(), gids.end(),
                     [&](const ibv_gid_entry& entry) { return entry.gid_index == index; });
}

bool HasGid(const FakeDevice& device, const ibv_gid& gid) {
  const std::vector<ibv_gid_entry> gids = device.Gids();
  return std::any_of(gids.begin(), gids.end(), [&](const ibv_gid_entry& entry) {
    return memcmp(entry.gid.raw, gid.raw, sizeof(gid.raw)) == 0;
  });
}

// Whether ports with these keys talk to each other: 0x8000 says that one is a full member.
bool ArePartitionsSame(uint16_t one, uint16_t other) {
  return ((one ^ other) & 0x7fff) == 0 && ((one | other) & 0x8000) != 0;
}

}  // namespace

int FakeQp::ModifyByVerbs(const ibv_qp_attr& attr, int mask) {
  const ibv_qp_state next = attr.qp_state;
  if (state == IBV_QPS_RESET && next == IBV_QPS_INIT) {
    if (mask != kToInit || attr.port_num != 1 ||
        attr.pkey_index >= device().options.partitions.size()) {
      return EINVAL;
    }
    partition_index_ = attr.pkey_index;
    access_ = attr.qp_access_flags;
    state = IBV_QPS_INIT;
    return 0;
  }
  if (state == IBV_QPS_INIT && next == IBV_QPS_RTR) {
    return mask == kToReceive ? ToReceive(attr) : EINVAL;
  }
  if (state != IBV_QPS_RTR || next != IBV_QPS_RTS || mask != kToSend) return EINVAL;
  if (attr.sq_psn >= kNumbers || attr.timeout > 31 || attr.retry_cnt > 7 || attr.rnr_retry > 7 ||
      attr.max_rd_atomic > device().options.max_qp_init_rd_atom) {
    return EINVAL;
  }
  sends_from_ = attr.sq_psn;
  begins_ = attr.max_rd_atomic;
  retry_count_ = attr.retry_cnt;
  rnr_retry_ = rnr_left_ = attr.rnr_retry;
  ack_timeout_ = attr.timeout;
  state = IBV_QPS_RTS;
  if (peer_ != nullptr) peer_->OnPeerChanged();
  return 0;
}

int FakeQp::ToReceive(const ibv_qp_attr& attr) {
  // The kernel's connection manager for iWARP makes these steps, with a TCP connection.
  if (device().iwarp()) return EINVAL;
  const bool roce = device().options.link == FakeLink::kRoce;
  if (attr.path_mtu < IBV_MTU_256 || attr.path_mtu > device().options.active_mtu ||
      attr.dest_qp_num >= kNumbers || attr.rq_psn >= kNumbers || attr.min_rnr_timer > 31 ||
      attr.max_dest_rd_atomic > device().options.max_qp_rd_atom || attr.ah_attr.port_num != 1 ||
      (roce && attr.ah_attr.is_global == 0) ||
      (attr.ah_attr.is_global != 0 && !HasGidAt(device(), attr.ah_attr.grh.sgid_index))) {
    return EINVAL;
  }
  path_ = attr.ah_attr;
  path_mtu_ = attr.path_mtu;
  peer_ = FindPeer(attr);
  receives_from_ = attr.rq_psn;
  answers_ = attr.max_dest_rd_atomic;
  min_rnr_timer_ = attr.min_rnr_timer;
  state = IBV_QPS_RTR;
  if (peer_ != nullptr) peer_->OnPeerChanged();
  return 0;
}

// Null: no queue pair has this number there. What is sent gets lost then.
FakeQp* FakeQp::FindPeer(const ibv_qp_attr& attr) const {
  for (FakeQp* const qp : table_.live()) {
    if (qp->qp_num != attr.dest_qp_num) continue;
    if (qp->device().options.link != device().options.link) continue;
    if (!ArePartitionsSame(qp->partition(), partition())) continue;
    const bool there = attr.ah_attr.is_global != 0
                           ? HasGid(qp->device(), attr.ah_attr.grh.dgid)
                           : qp->device().PortAttributes().lid == attr.ah_attr.dlid;
    if (there) return qp;
  }
  return nullptr;
}

bool FakeQp::Joined() const {
  if (id_ != nullptr) return true;
  return peer_ != nullptr && peer_->peer_ == this && peer_->receives_from_ == sends_from_;
}

}  // namespace farcall
