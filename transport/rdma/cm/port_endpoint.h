// SPDX-License-Identifier: Apache-2.0
//
// PortEndpoint: a queue pair of ibv_create_qp(3), joined to the peer's by messages on the TCP
// connection (port_set_up.proto), with the steps of ibv_modify_qp(3):
//
//   client   CreatePair: INIT;  Connect: says CONNECT
//            at ACCEPT: RTR, RTS, says READY, ESTABLISHED
//
//   server   CreatePair: INIT;  Accept: RTR, RTS, says ACCEPT
//            at READY: ESTABLISHED
//
// So each end receives before the other one sends. A message out of its turn ends the attempt.

#ifndef FARCALL_TRANSPORT_RDMA_CM_PORT_ENDPOINT_H_
#define FARCALL_TRANSPORT_RDMA_CM_PORT_ENDPOINT_H_

#include <cstdint>
#include <memory>
#include <optional>

#include "transport/rdma/cm/endpoint.h"
#include "transport/rdma/cm/port_pair.h"
#include "transport/rdma/cm/port_set_up.h"
#include "transport/rdma/cm/set_up_line.h"
#include "transport/rdma/device/local_port.h"
#include "transport/rdma/device/rdma_parts.h"

namespace farcall {

class PortEndpoint final : public Endpoint, private SetUpLine::End {
 public:
  // The end that connects to `to`, a port that was offered. `parts` outlives it.
  PortEndpoint(const RdmaParts& parts, const LocalPort& local, const FabricPort& to,
               std::shared_ptr<SetUpLine> line);
  // The end that is asked by `connect`.
  PortEndpoint(const RdmaParts& parts, const LocalPort& local, const PortSetUp& connect,
               std::shared_ptr<SetUpLine> line);
  ~PortEndpoint() override;

  void SetHandler(CmHandler& handler) override { handler_ = &handler; }
  ibv_context* context() const override { return pair_.local().context; }
  int port() const override { return pair_.local().number; }
  Address local() const override;
  Address peer() const override;
  ibv_qp* pair() const override { return pair_.get(); }
  absl::string_view set_up() const override { return "tcp"; }
  // The device itself says that it goes: IBV_EVENT_DEVICE_FATAL.
  bool hears_removal() const override { return false; }
  absl::Status SetTrafficClass(int traffic_class) override;
  absl::string_view call() const override { return message_.empty() ? pair_.call() : message_; }
  int CreatePair(ibv_pd& pd, ibv_qp_init_attr& attributes) override;
  void DestroyPair() override { pair_.Destroy(); }
  int Connect(rdma_conn_param& param) override;
  int Accept(rdma_conn_param& param) override;
  void Reject(absl::string_view data) override;
  // The peer learns of it on the TCP connection.
  void Disconnect() override { pair_.Break(); }

 private:
  void OnMessage(absl::string_view bytes) override;
  void OnHangUp() override;
  void OnAccepted(const PortSetUp& accept);
  void LeaveLine();
  void Take(const rdma_conn_param& param);
  int Join();
  PortSetUp Describe(PortSetUp::Kind kind, const rdma_conn_param& param) const;
  // Its handler may destroy this.
  void Emit(rdma_cm_event_type type, int status, std::string data = "");

  const FabricPort to_;  // where it connects to; not of the end that is asked
  const std::shared_ptr<SetUpLine> line_;
  PortPair pair_;
  CmHandler* handler_ = nullptr;
  std::optional<PortSetUp> peer_;
  PortPair::Terms terms_;
  enum class State : uint8_t { kNew, kConnecting, kAccepting, kOver };
  State state_ = State::kNew;
  absl::string_view message_;  // instead of what pair_ did last
};

}  // namespace farcall

#endif  // FARCALL_TRANSPORT_RDMA_CM_PORT_ENDPOINT_H_
