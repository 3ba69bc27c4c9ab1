// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_TRANSPORT_RDMA_CM_BRPC_ENDPOINT_H_
#define FARCALL_TRANSPORT_RDMA_CM_BRPC_ENDPOINT_H_

#include <cerrno>
#include <optional>

#include "transport/brpc_end.h"
#include "transport/rdma/cm/endpoint.h"
#include "transport/rdma/cm/port_pair.h"

namespace farcall {

// A queue pair that is joined to one of brpc, by what the hellos on the TCP connection say
// (transport/brpc). What they do not say both ends know: packets of 1024 bytes, numbered from 0, no
// RDMA READs. It hears nothing: its end is that of the TCP connection.
class BrpcEndpoint final : public Endpoint {
 public:
  static constexpr uint32_t kMtu = 1024;

  // `parts` outlives it.
  BrpcEndpoint(const RdmaParts& parts, const LocalPort& local)
      : service_level_(parts.options.service_level), pair_(parts, local) {}

  // Before Connect or Accept.
  void SetPeer(const BrpcEnd& peer) { peer_ = peer; }

  void SetHandler(CmHandler&) override {}
  ibv_context* context() const override { return pair_.local().context; }
  int port() const override { return pair_.local().number; }
  Address local() const override { return Address::Ipv6(pair_.local().port.gid, 0); }
  Address peer() const override { return Address::Ipv6(peer_ ? peer_->gid : BrpcEnd().gid, 0); }
  ibv_qp* pair() const override { return pair_.get(); }
  absl::string_view set_up() const override { return "brpc"; }
  bool hears_removal() const override { return false; }
  absl::Status SetTrafficClass(int traffic_class) override {
    traffic_class_ = static_cast<uint8_t>(traffic_class);
    return absl::OkStatus();
  }
  absl::string_view call() const override { return pair_.call(); }
  int CreatePair(ibv_pd& pd, ibv_qp_init_attr& attributes) override {
    return pair_.Create(pd, attributes, /*access=*/0);
  }
  void DestroyPair() override { pair_.Destroy(); }
  // Either end, when it knows the other one: it receives and sends then, and nothing follows.
  int Connect(rdma_conn_param& param) override { return Accept(param); }
  int Accept(rdma_conn_param& param) override {
    if (!peer_) return EINVAL;
    PortPair::Peer peer;
    peer.gid = peer_->gid;
    peer.lid = peer_->lid;
    peer.number = peer_->number;
    return pair_.Join(peer, {.mtu = kMtu,
                             .service_level = service_level_,
                             .traffic_class = traffic_class_,
                             .retry_count = param.retry_count,
                             .rnr_retry = param.rnr_retry_count});
  }
  void Reject(absl::string_view) override {}
  void Disconnect() override { pair_.Break(); }

 private:
  const uint8_t service_level_;
  PortPair pair_;
  std::optional<BrpcEnd> peer_;
  uint8_t traffic_class_ = 0;
};

}  // namespace farcall

#endif  // FARCALL_TRANSPORT_RDMA_CM_BRPC_ENDPOINT_H_
