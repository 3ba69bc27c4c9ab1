// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_TRANSPORT_RDMA_CM_PORT_PAIR_H_
#define FARCALL_TRANSPORT_RDMA_CM_PORT_PAIR_H_

#include <array>
#include <cstdint>

#include "absl/strings/string_view.h"
#include "transport/rdma/device/local_port.h"
#include "transport/rdma/device/rdma_parts.h"
#include "transport/rdma/verbs/owned.h"

namespace farcall {

// A queue pair of ibv_create_qp(3) at a port of this host, and its steps of ibv_modify_qp(3). Each
// returns 0 or an errno. With the control loop held.
class PortPair {
 public:
  // Where the peer is, and how its packets come.
  struct Peer {
    std::array<uint8_t, 16> gid{};
    uint16_t lid = 0;
    uint32_t number = 0;
    uint32_t first_packet = 0;  // IBTA: PSN
    bool needs_route_header = false;
  };
  // What both ends have agreed on, and what is this end's alone.
  struct Terms {
    uint32_t mtu = 0;           // bytes
    uint32_t first_packet = 0;  // of this end
    uint8_t answers = 0;        // RDMA READs at once
    uint8_t begins = 0;
    uint8_t service_level = 0;
    uint8_t traffic_class = 0;
    uint8_t retry_count = 0;
    uint8_t rnr_retry = 0;
  };

  // `parts` outlives it.
  PortPair(const RdmaParts& parts, const LocalPort& local) : parts_(parts), local_(local) {}

  const LocalPort& local() const { return local_; }
  ibv_qp* get() const { return pair_.get(); }
  // The call that was made last, for messages.
  absl::string_view call() const { return call_; }

  // Made, and in INIT: receives may be posted. `access`: of the peer, IBV_ACCESS_*.
  int Create(ibv_pd& pd, ibv_qp_init_attr& attributes, unsigned int access);
  // From INIT to RTR and RTS: it receives, and sends.
  int Join(const Peer& peer, const Terms& terms);
  // What is posted flushes.
  void Break();
  void Destroy() { pair_.reset(); }

 private:
  bool WithRouteHeader(const Peer& peer) const;
  int ToInit(unsigned int access);
  int ToReceive(const Peer& peer, const Terms& terms);
  int ToSend(const Terms& terms);
  int Modify(ibv_qp_attr& attributes, int mask);

  const RdmaParts& parts_;
  const LocalPort local_;
  OwnedQueuePair pair_;
  absl::string_view call_ = "ibv_create_qp";
};

}  // namespace farcall

#endif  // FARCALL_TRANSPORT_RDMA_CM_PORT_PAIR_H_
