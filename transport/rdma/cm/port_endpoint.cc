// SPDX-License-Identifier: Apache-2.0

#include "transport/rdma/cm/port_endpoint.h"

#include <algorithm>
#include <cerrno>
#include <random>
#include <utility>

#include "transport/base/check.h"

namespace farcall {
namespace {

// IBTA: PSN. So that what is left of an earlier queue pair with the same number is not taken for a
// packet of this one, and who has not seen it cannot make one up.
uint32_t RandomPacketNumber() { return std::random_device()() & 0xffffff; }

FabricPort PortOf(const PortSetUp& connect, const LocalPort& local) {
  return {connect.gid, local.port.type, connect.lid, connect.mtu};
}

}  // namespace

PortEndpoint::PortEndpoint(const RdmaParts& parts, const LocalPort& local, const FabricPort& to,
                           std::shared_ptr<SetUpLine> line)
    : to_(to),
      line_(std::move(line)),
      pair_(parts, local),
      terms_{.mtu = local.port.mtu,
             .first_packet = RandomPacketNumber(),
             .service_level = parts.options.service_level} {
  line_->SetEnd(this);
}

PortEndpoint::PortEndpoint(const RdmaParts& parts, const LocalPort& local, const PortSetUp& connect,
                           std::shared_ptr<SetUpLine> line)
    : PortEndpoint(parts, local, PortOf(connect, local), std::move(line)) {
  peer_ = connect;
  // The client's counts at both ends, as does its traffic class.
  terms_.service_level = connect.service_level;
}

PortEndpoint::~PortEndpoint() { LeaveLine(); }

Address PortEndpoint::local() const { return Address::Ipv6(pair_.local().port.gid, 0); }
Address PortEndpoint::peer() const { return Address::Ipv6(to_.gid, 0); }

absl::Status PortEndpoint::SetTrafficClass(int traffic_class) {
  // The client's counts at both ends, as with rdma_cm.
  terms_.traffic_class = peer_ ? peer_->traffic_class : static_cast<uint8_t>(traffic_class);
  return absl::OkStatus();
}

int PortEndpoint::CreatePair(ibv_pd& pd, ibv_qp_init_attr& attributes) {
  // What rdma_cm gives too. What may be read is what a memory window opens.
  return pair_.Create(pd, attributes, IBV_ACCESS_REMOTE_READ);
}

void PortEndpoint::Take(const rdma_conn_param& param) {
  terms_.answers = param.responder_resources;
  terms_.begins = param.initiator_depth;
  terms_.retry_count = param.retry_count;
  terms_.rnr_retry = param.rnr_retry_count;
}

int PortEndpoint::Connect(rdma_conn_param& param) {
  Check(state_ == State::kNew, "an end connects once");
  state_ = State::kConnecting;
  Take(param);
  line_->Send(EncodePortSetUp(Describe(PortSetUp::Kind::kConnect, param)));
  return 0;
}

int PortEndpoint::Accept(rdma_conn_param& param) {
  Check(state_ == State::kNew && peer_, "an end that was asked accepts once");
  Take(param);
  terms_.begins = std::min(terms_.begins, peer_->answers);
  if (const int error = Join(); error != 0) return error;
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

void PortEndpoint::OnMessage(absl::string_view bytes) {
  const auto message = ParsePortSetUp(bytes);
  using Kind = PortSetUp::Kind;
  const bool connecting = state_ == State::kConnecting;
  if (message.ok() && connecting && message->kind == Kind::kAccept) return OnAccepted(*message);
  if (message.ok() && connecting && message->kind == Kind::kReject) {
    return Emit(RDMA_CM_EVENT_REJECTED, 0, message->data);
  }
  if (message.ok() && state_ == State::kAccepting && message->kind == Kind::kReady) {
    return Emit(RDMA_CM_EVENT_ESTABLISHED, 0);
  }
  if (state_ == State::kOver) return;
  message_ = "a message of the peer";
  Emit(RDMA_CM_EVENT_CONNECT_ERROR, -EPROTO);
}

void PortEndpoint::OnHangUp() {
  if (state_ != State::kOver) Emit(RDMA_CM_EVENT_DISCONNECTED, 0);
}

void PortEndpoint::OnAccepted(const PortSetUp& accept) {
  peer_ = accept;
  terms_.begins = std::min(terms_.begins, accept.answers);
  if (accept.gid != to_.gid) {
    message_ = "a message of the peer";
    return Emit(RDMA_CM_EVENT_CONNECT_ERROR, -EPROTO);
  }
  const int error = Join();
  if (error != 0) return Emit(RDMA_CM_EVENT_CONNECT_ERROR, -error);
  PortSetUp ready;
  ready.kind = PortSetUp::Kind::kReady;
  line_->Send(EncodePortSetUp(ready));
  Emit(RDMA_CM_EVENT_ESTABLISHED, 0, accept.data);
}

void PortEndpoint::Emit(rdma_cm_event_type type, int status, std::string data) {
  state_ = State::kOver;
  LeaveLine();
  CmEventInfo cm_event;
  cm_event.type = type;
  cm_event.status = status;
  cm_event.private_data = std::move(data);
  if (handler_ != nullptr) handler_->OnCmEvent(cm_event);
}

PortSetUp PortEndpoint::Describe(PortSetUp::Kind kind, const rdma_conn_param& param) const {
  const LocalPort& local = pair_.local();
  PortSetUp message;
  message.kind = kind;
  message.data.assign(static_cast<const char*>(param.private_data), param.private_data_len);
  message.gid = local.port.gid;
  message.lid = local.port.lid;
  message.number = pair_.get()->qp_num;
  message.first_packet = terms_.first_packet;
  message.mtu = terms_.mtu;
  message.answers = terms_.answers;
  message.begins = terms_.begins;
  message.traffic_class = terms_.traffic_class;
  message.service_level = terms_.service_level;
  message.needs_route_header = local.needs_route_header;
  message.to = to_.gid;
  return message;
}

int PortEndpoint::Join() {
  PortPair::Peer peer;
  peer.gid = peer_->gid;
  peer.lid = peer_->lid;
  peer.number = peer_->number;
  peer.first_packet = peer_->first_packet;
  peer.needs_route_header = peer_->needs_route_header;
  PortPair::Terms agreed = terms_;
  agreed.mtu = std::min(terms_.mtu, peer_->mtu);
  return pair_.Join(peer, agreed);
}

}  // namespace farcall
