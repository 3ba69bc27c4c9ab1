// SPDX-License-Identifier: Apache-2.0

#include "transport/rdma/cm/cm_endpoint.h"

#include <cerrno>
#include <cstdint>

#include "transport/rdma/cm/cm_options.h"
#include "transport/sockaddr.h"

namespace farcall {

Address CmEndpoint::local() const { return FromSocketAddress(LocalOf(*id_)); }
Address CmEndpoint::peer() const { return FromSocketAddress(PeerOf(*id_)); }

absl::Status CmEndpoint::SetTrafficClass(int traffic_class) {
  return SetCmOptions(parts_, *id_, traffic_class);
}

int CmEndpoint::CreatePair(ibv_pd& pd, ibv_qp_init_attr& attributes) {
  call_ = "rdma_create_qp";
  return parts_.api.rdma.create_qp(id_.get(), &pd, &attributes) == 0 ? 0 : errno;
}

void CmEndpoint::DestroyPair() { parts_.api.rdma.destroy_qp(id_.get()); }

int CmEndpoint::Connect(rdma_conn_param& param) {
  call_ = "rdma_connect";
  return parts_.api.rdma.connect(id_.get(), &param) == 0 ? 0 : errno;
}

int CmEndpoint::Accept(rdma_conn_param& param) {
  call_ = "rdma_accept";
  return parts_.api.rdma.accept(id_.get(), &param) == 0 ? 0 : errno;
}

// Fails where the peer has gone, who then needs no answer.
void CmEndpoint::Reject(absl::string_view data) {
  parts_.api.rdma.reject(id_.get(), data.data(), static_cast<uint8_t>(data.size()));
}

// Fails where it was never connected, and on devices that are gone.
void CmEndpoint::Disconnect() {
  parts_.api.rdma.disconnect(id_.get());
  ibv_qp_attr attributes{};
  attributes.qp_state = IBV_QPS_ERR;
  parts_.api.ibv.modify_qp(id_->qp, &attributes, IBV_QP_STATE);
}

}  // namespace farcall
