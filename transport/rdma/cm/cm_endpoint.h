// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_TRANSPORT_RDMA_CM_CM_ENDPOINT_H_
#define FARCALL_TRANSPORT_RDMA_CM_CM_ENDPOINT_H_

#include <utility>

#include "transport/rdma/cm/endpoint.h"
#include "transport/rdma/device/rdma_parts.h"
#include "transport/rdma/verbs/owned.h"

namespace farcall {

// An rdma_cm id and its queue pair.
class CmEndpoint final : public Endpoint {
 public:
  // `parts` outlives it.
  CmEndpoint(const RdmaParts& parts, CmId id) : parts_(parts), id_(std::move(id)) {}

  rdma_cm_id* id() const { return id_.get(); }

  void SetHandler(CmHandler& handler) override { id_->context = &handler; }
  ibv_context* context() const override { return id_->verbs; }
  int port() const override { return id_->port_num; }
  Address local() const override;
  Address peer() const override;
  absl::string_view call() const override { return call_; }
  ibv_qp* pair() const override { return id_->qp; }
  absl::string_view set_up() const override { return "rdma_cm"; }
  bool hears_removal() const override { return true; }
  absl::Status SetTrafficClass(int traffic_class) override;
  int CreatePair(ibv_pd& pd, ibv_qp_init_attr& attributes) override;
  void DestroyPair() override;
  int Connect(rdma_conn_param& param) override;
  int Accept(rdma_conn_param& param) override;
  void Reject(absl::string_view data) override;
  void Disconnect() override;

 private:
  const RdmaParts& parts_;
  const CmId id_;
  absl::string_view call_;
};

}  // namespace farcall

#endif  // FARCALL_TRANSPORT_RDMA_CM_CM_ENDPOINT_H_
