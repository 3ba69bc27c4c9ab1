// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_TRANSPORT_RDMA_CM_ENDPOINT_H_
#define FARCALL_TRANSPORT_RDMA_CM_ENDPOINT_H_

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "transport/address.h"
#include "transport/rdma/cm/cm_source.h"
#include "transport/rdma/verbs/verbs_api.h"

namespace farcall {

// One end of a connection that is set up: its queue pair, and how that is joined to the peer's. By
// rdma_cm (CmEndpoint), or by messages on the TCP connection (PortEndpoint). Both tell what happens
// by events of rdma_cm. Its end destroys the queue pair. With the control loop held.
class Endpoint {
 public:
  virtual ~Endpoint() = default;

  // Who hears from now on what happens to it. Outlives it.
  virtual void SetHandler(CmHandler& handler) = 0;
  virtual ibv_context* context() const = 0;
  virtual int port() const = 0;  // of the device, from 1
  virtual Address local() const = 0;
  virtual Address peer() const = 0;
  virtual ibv_qp* pair() const = 0;
  // "rdma_cm", "tcp": for /status.
  virtual absl::string_view set_up() const = 0;
  // Whether it hears RDMA_CM_EVENT_DEVICE_REMOVAL.
  virtual bool hears_removal() const = 0;

  // Before it is connected or accepted.
  virtual absl::Status SetTrafficClass(int traffic_class) = 0;
  // The call that was made last, for messages: "rdma_connect".
  virtual absl::string_view call() const = 0;
  // Receives may be posted then. 0, or an errno; as the next.
  virtual int CreatePair(ibv_pd& pd, ibv_qp_init_attr& attributes) = 0;
  virtual void DestroyPair() = 0;
  // ESTABLISHED or REJECTED follow, with the data of the peer, or another end.
  virtual int Connect(rdma_conn_param& param) = 0;
  // ESTABLISHED follows, when the peer may be sent to, or another end.
  virtual int Accept(rdma_conn_param& param) = 0;
  // Nothing follows.
  virtual void Reject(absl::string_view data) = 0;
  // What is posted flushes. Fails silently where it was never connected.
  virtual void Disconnect() = 0;
};

}  // namespace farcall

#endif  // FARCALL_TRANSPORT_RDMA_CM_ENDPOINT_H_
