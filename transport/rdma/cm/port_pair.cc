// SPDX-License-Identifier: Apache-2.0

#include "transport/rdma/cm/port_pair.h"

#include <algorithm>
#include <bit>
#include <cerrno>

namespace farcall {
namespace {

// 256 bytes: 1, and one more for each doubling.
ibv_mtu ToMtu(uint32_t bytes) { return static_cast<ibv_mtu>(std::bit_width(bytes / 128) - 1); }

}  // namespace

int PortPair::Create(ibv_pd& pd, ibv_qp_init_attr& attributes, unsigned int access) {
  call_ = "ibv_create_qp";
  ibv_qp* const made = parts_.api.ibv.create_qp(&pd, &attributes);
  if (made == nullptr) return errno;
  pair_ = Own(parts_.api, made);
  const int error = ToInit(access);
  if (error != 0) pair_.reset();
  return error;
}

int PortPair::Join(const Peer& peer, const Terms& terms) {
  const int error = ToReceive(peer, terms);
  return error != 0 ? error : ToSend(terms);
}

void PortPair::Break() {
  if (pair_ == nullptr) return;
  ibv_qp_attr attributes{};
  attributes.qp_state = IBV_QPS_ERR;
  Modify(attributes, IBV_QP_STATE);
}

// Between subnets, and on ports that say so, as an InfiniBand adapter's virtual functions may.
bool PortPair::WithRouteHeader(const Peer& peer) const {
  if (local_.link_layer == LinkLayer::kRoce) return true;
  constexpr size_t kSubnetPrefix = 8;
  return local_.needs_route_header || peer.needs_route_header ||
         !std::equal(peer.gid.begin(), peer.gid.begin() + kSubnetPrefix, local_.port.gid.begin());
}

int PortPair::ToInit(unsigned int access) {
  call_ = "ibv_modify_qp to INIT";
  ibv_qp_attr attributes{};
  attributes.qp_state = IBV_QPS_INIT;
  attributes.port_num = local_.number;
  attributes.pkey_index = local_.partition_index;
  attributes.qp_access_flags = access;
  return Modify(attributes, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS);
}

int PortPair::ToReceive(const Peer& peer, const Terms& terms) {
  call_ = "ibv_modify_qp to RTR";
  ibv_qp_attr attributes{};
  attributes.qp_state = IBV_QPS_RTR;
  attributes.path_mtu = ToMtu(terms.mtu);
  attributes.dest_qp_num = peer.number;
  attributes.rq_psn = peer.first_packet;
  attributes.max_dest_rd_atomic = terms.answers;
  attributes.min_rnr_timer = parts_.options.min_rnr_timer;
  attributes.ah_attr.port_num = local_.number;
  attributes.ah_attr.dlid = peer.lid;
  attributes.ah_attr.sl = terms.service_level;
  if (WithRouteHeader(peer)) {
    attributes.ah_attr.is_global = 1;
    std::copy(peer.gid.begin(), peer.gid.end(), attributes.ah_attr.grh.dgid.raw);
    attributes.ah_attr.grh.sgid_index = static_cast<uint8_t>(local_.gid_index);
    attributes.ah_attr.grh.hop_limit = 64;
    attributes.ah_attr.grh.traffic_class = terms.traffic_class;
  }
  return Modify(attributes, IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN |
                                IBV_QP_RQ_PSN | IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER);
}

int PortPair::ToSend(const Terms& terms) {
  call_ = "ibv_modify_qp to RTS";
  ibv_qp_attr attributes{};
  attributes.qp_state = IBV_QPS_RTS;
  attributes.sq_psn = terms.first_packet;
  attributes.timeout = parts_.options.ack_timeout;
  attributes.retry_cnt = terms.retry_count;
  attributes.rnr_retry = terms.rnr_retry;
  attributes.max_rd_atomic = terms.begins;
  return Modify(attributes, IBV_QP_STATE | IBV_QP_SQ_PSN | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT |
                                IBV_QP_RNR_RETRY | IBV_QP_MAX_QP_RD_ATOMIC);
}

int PortPair::Modify(ibv_qp_attr& attributes, int mask) {
  return parts_.api.ibv.modify_qp(pair_.get(), &attributes, mask);
}

}  // namespace farcall
