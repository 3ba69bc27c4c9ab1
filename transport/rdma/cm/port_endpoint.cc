// SPDX-License-Identifier: Apache-2.0

#include "transport/rdma/cm/port_endpoint.h"

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstring>
#include <random>
#include <utility>

#include "transport/base/check.h"

namespace farcall {
namespace {

// IBTA: PSN. So that what is left of an earlier queue pair with the same number is not taken for a
// packet of this one, and who has not seen it cannot make one up.
uint32_t RandomPacketNumber() { return std::random_device()() & 0xffffff; }

// 256 bytes: 1, and one more for each doubling.
ibv_mtu ToMtu(uint32_t bytes) { return static_cast<ibv_mtu>(std::bit_width(bytes / 128) - 1); }

FabricPort PortOf(const PortSetUp& connect, const LocalPort& local) {
  return {connect.gid, local.port.type, connect.lid, connect.mtu};
}

}  // namespace

PortEndpoint::PortEndpoint(const RdmaParts& parts, const LocalPort& local, const FabricPort& to,
                           std::shared_ptr<SetUpLine> line)
    : parts_(parts),
      local_(local),
      to_(to),
      line_(std::move(line)),
      first_packet_(RandomPacketNumber()),
      service_level_(parts.options.service_level) {
  line_->SetEnd(this);
}

PortEndpoint::PortEndpoint(const RdmaParts& parts, const LocalPort& local, const PortSetUp& connect,
                           std::shared_ptr<SetUpLine> line)
    : PortEndpoint(parts, local, PortOf(connect, local), std::move(line)) {
  peer_ = connect;
  // The client's counts at both ends, as does its traffic class.
  service_level_ = connect.service_level;
}

PortEndpoint::~PortEndpoint() { LeaveLine(); }

Address PortEndpoint::local() const { return Address::Ipv6(local_.port.gid, 0); }
Address PortEndpoint::peer() const { return Address::Ipv6(to_.gid, 0); }

absl::Status PortEndpoint::SetTrafficClass(int traffic_class) {
  // The client's counts at both ends, as with rdma_cm.
  traffic_class_ = peer_ ? peer_->traffic_class : static_cast<uint8_t>(traffic_class);
  return absl::OkStatus();
}

int PortEndpoint::CreatePair(ibv_pd& pd, ibv_qp_init_attr& attributes) {
  call_ = "ibv_create_qp";
  ibv_qp* const made = parts_.api.ibv.create_qp(&pd, &attributes);
  if (made == nullptr) return errno;
  pair_ = Own(parts_.api, made);
  const int error = ToInit();
  if (error != 0) pair_.reset();
  return error;
}

int PortEndpoint::Connect(rdma_conn_param& param) {
  Check(state_ == State::kNew, "an end connects once");
  state_ = State::kConnecting;
  answers_ = param.responder_resources;
  begins_ = param.initiator_depth;
  retry_count_ = param.retry_count;
  rnr_retry_ = param.rnr_retry_count;
  line_->Send(EncodePortSetUp(Describe(PortSetUp::Kind::kConnect, param)));
  return 0;
}

int PortEndpoint::Accept(rdma_conn_param& param) {
  Check(state_ == State::kNew && peer_, "an end that was asked accepts once");
  answers_ = param.responder_resources;
  begins_ = std::min<uint8_t>(param.initiator_depth, peer_->answers);
  retry_count_ = param.retry_count;
  rnr_retry_ = param.rnr_retry_count;
  if (const int error = ToReceive(); error != 0) return error;
  if (const int error = ToSend(); error != 0) return error;
  state_ = State::kAccepting;
  line_->Send(EncodePortSetUp(Describe(PortSetUp::Kind::kAccept, param)));
  return 0;
}

void PortEndpoint::Reject(absl::string_view data) {
  state_ = State::kOver;
  PortSetUp message;
  message.kind = PortSetUp::Kind::kReject;
  message.data = std::string(data);
  line_->Send(EncodePortSetUp(message));
  LeaveLine();
}

// What comes now is of another attempt.
void PortEndpoint::LeaveLine() {
  if (line_->end() == this) line_->SetEnd(nullptr);
}

// The peer learns of it on the TCP connection.
void PortEndpoint::Disconnect() {
  if (pair_ == nullptr) return;
  ibv_qp_attr attributes{};
  attributes.qp_state = IBV_QPS_ERR;
  Modify(attributes, IBV_QP_STATE);
}

void PortEndpoint::OnMessage(absl::string_view bytes) {
  const auto message = ParsePortSetUp(bytes);
  using Kind = PortSetUp::Kind;
  const bool connecting = state_ == State::kConnecting;
  if (message.ok() && connecting && message->kind == Kind::kAccept) return OnAccepted(*message);
  if (message.ok() && connecting && message->kind == Kind::kReject) {
    return Tell(RDMA_CM_EVENT_REJECTED, 0, message->data);
  }
  if (message.ok() && state_ == State::kAccepting && message->kind == Kind::kReady) {
    return Tell(RDMA_CM_EVENT_ESTABLISHED, 0);
  }
  if (state_ == State::kOver) return;
  call_ = "a message of the peer";
  Tell(RDMA_CM_EVENT_CONNECT_ERROR, -EPROTO);
}

void PortEndpoint::OnHangUp() {
  if (state_ != State::kOver) Tell(RDMA_CM_EVENT_DISCONNECTED, 0);
}

void PortEndpoint::OnAccepted(const PortSetUp& accept) {
  peer_ = accept;
  begins_ = std::min(begins_, accept.answers);
  call_ = "a message of the peer";
  int error = accept.gid == to_.gid ? ToReceive() : EPROTO;
  if (error == 0) error = ToSend();
  if (error != 0) return Tell(RDMA_CM_EVENT_CONNECT_ERROR, -error);
  PortSetUp ready;
  ready.kind = PortSetUp::Kind::kReady;
  line_->Send(EncodePortSetUp(ready));
  Tell(RDMA_CM_EVENT_ESTABLISHED, 0, accept.data);
}

void PortEndpoint::Tell(rdma_cm_event_type type, int status, std::string data) {
  state_ = State::kOver;
  LeaveLine();
  CmNews news;
  news.type = type;
  news.status = status;
  news.private_data = std::move(data);
  if (handler_ != nullptr) handler_->OnCmNews(news);
}

PortSetUp PortEndpoint::Describe(PortSetUp::Kind kind, const rdma_conn_param& param) const {
  PortSetUp message;
  message.kind = kind;
  message.data.assign(static_cast<const char*>(param.private_data), param.private_data_len);
  message.gid = local_.port.gid;
  message.lid = local_.port.lid;
  message.number = pair_->qp_num;
  message.first_packet = first_packet_;
  message.mtu = local_.port.mtu;
  message.answers = answers_;
  message.begins = begins_;
  message.traffic_class = traffic_class_;
  message.service_level = service_level_;
  message.needs_route_header = local_.needs_route_header;
  message.to = to_.gid;
  return message;
}

// Between subnets, and on ports that say so, as an InfiniBand adapter's virtual functions may.
bool PortEndpoint::WithRouteHeader() const {
  if (local_.link_layer == LinkLayer::kRoce) return true;
  constexpr size_t kSubnetPrefix = 8;
  return local_.needs_route_header || peer_->needs_route_header ||
         !std::equal(peer_->gid.begin(), peer_->gid.begin() + kSubnetPrefix,
                     local_.port.gid.begin());
}

int PortEndpoint::ToInit() {
  call_ = "ibv_modify_qp to INIT";
  ibv_qp_attr attributes{};
  attributes.qp_state = IBV_QPS_INIT;
  attributes.port_num = local_.number;
  attributes.pkey_index = local_.partition_index;
  // What rdma_cm gives too. What may be read is what a memory window opens.
  attributes.qp_access_flags = IBV_ACCESS_REMOTE_READ;
  return Modify(attributes, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS);
}

int PortEndpoint::ToReceive() {
  call_ = "ibv_modify_qp to RTR";
  ibv_qp_attr attributes{};
  attributes.qp_state = IBV_QPS_RTR;
  attributes.path_mtu = ToMtu(std::min(local_.port.mtu, peer_->mtu));
  attributes.dest_qp_num = peer_->number;
  attributes.rq_psn = peer_->first_packet;
  attributes.max_dest_rd_atomic = answers_;
  attributes.min_rnr_timer = parts_.options.min_rnr_timer;
  attributes.ah_attr.port_num = local_.number;
  attributes.ah_attr.dlid = peer_->lid;
  attributes.ah_attr.sl = service_level_;
  if (WithRouteHeader()) {
    attributes.ah_attr.is_global = 1;
    std::copy(peer_->gid.begin(), peer_->gid.end(), attributes.ah_attr.grh.dgid.raw);
    attributes.ah_attr.grh.sgid_index = static_cast<uint8_t>(local_.gid_index);
    attributes.ah_attr.grh.hop_limit = 64;
    attributes.ah_attr.grh.traffic_class = traffic_class_;
  }
  return Modify(attributes, IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN |
                                IBV_QP_RQ_PSN | IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER);
}

int PortEndpoint::ToSend() {
  call_ = "ibv_modify_qp to RTS";
  ibv_qp_attr attributes{};
  attributes.qp_state = IBV_QPS_RTS;
  attributes.sq_psn = first_packet_;
  attributes.timeout = parts_.options.ack_timeout;
  attributes.retry_cnt = retry_count_;
  attributes.rnr_retry = rnr_retry_;
  attributes.max_rd_atomic = begins_;
  return Modify(attributes, IBV_QP_STATE | IBV_QP_SQ_PSN | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT |
                                IBV_QP_RNR_RETRY | IBV_QP_MAX_QP_RD_ATOMIC);
}

int PortEndpoint::Modify(ibv_qp_attr& attributes, int mask) {
  return parts_.api.ibv.modify_qp(pair_.get(), &attributes, mask);
}

}  // namespace farcall
