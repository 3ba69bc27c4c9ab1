// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_TRANSPORT_RDMA_SETUP_PORT_LISTENER_H_
#define FARCALL_TRANSPORT_RDMA_SETUP_PORT_LISTENER_H_

#include <memory>

#include "absl/functional/any_invocable.h"
#include "absl/status/statusor.h"
#include "transport/address.h"
#include "transport/rdma/cm/cm_source.h"
#include "transport/rdma/host/rdma_host.h"
#include "transport/rdma/setup/admission.h"

namespace farcall {

// A listening rdma_cm id. With the control loop held.
class PortListener final : private CmHandler {
 public:
  struct Where {
    Address address;  // port 0: one that the kernel chooses
    int backlog = 1024;
    int traffic_class = 0;
  };

  // `admission` outlives it. `removed` is called, from the mailbox, when its device went
  // away; it hears nothing any more then.
  static absl::StatusOr<std::unique_ptr<PortListener>> Open(RdmaHost& host, const Where& where,
                                                            Admission& admission,
                                                            absl::AnyInvocable<void()> removed);
  PortListener(const PortListener&) = delete;
  PortListener& operator=(const PortListener&) = delete;

  // With its port.
  const Address& address() const { return address_; }
  // Of the address that it is bound to; null for a wildcard.
  ibv_context* device() const { return id_ == nullptr ? nullptr : id_->verbs; }
  // Of the device, from 1; 0: not known.
  int port() const { return id_ == nullptr ? 0 : id_->port_num; }

 private:
  PortListener(RdmaHost& host, Admission& admission, absl::AnyInvocable<void()> removed)
      : host_(host), admission_(admission), removed_(std::move(removed)) {}
  absl::Status Bind(const Where& where);
  int Listen(int backlog);
  void OnCmEvent(const CmEventInfo& cm_event) override;

  RdmaHost& host_;
  Admission& admission_;
  absl::AnyInvocable<void()> removed_;
  Address address_;
  CmId id_;
};

}  // namespace farcall

#endif  // FARCALL_TRANSPORT_RDMA_SETUP_PORT_LISTENER_H_
