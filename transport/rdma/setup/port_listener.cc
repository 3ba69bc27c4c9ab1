// SPDX-License-Identifier: Apache-2.0

#include "transport/rdma/setup/port_listener.h"

#include <cerrno>
#include <utility>

#include "transport/base/errno_status.h"
#include "transport/rdma/cm/cm_endpoint.h"
#include "transport/rdma/cm/cm_options.h"
#include "transport/rdma/setup/accept_attempt.h"
#include "transport/sockaddr.h"

namespace farcall {

absl::StatusOr<std::unique_ptr<PortListener>> PortListener::Open(
    RdmaHost& host, const Where& where, Admission& admission, absl::AnyInvocable<void()> removed) {
  std::unique_ptr<PortListener> listener(new PortListener(host, admission, std::move(removed)));
  for (int left = kPortTries;; --left) {
    const absl::Status bound = listener->Bind(where);
    if (!bound.ok()) return bound;
    const int error = listener->Listen(where.backlog);
    if (error == 0) return listener;
    const bool kernel_chose = where.address.port() == 0;
    if (!kernel_chose || !TcpHasPort(error) || left == 1) {
      return Annotate(ErrnoStatus(error), "rdma_listen");
    }
  }
}

absl::Status PortListener::Bind(const Where& where) {
  auto address = ToSocketAddress(where.address);
  if (!address.ok()) return address.status();
  const RdmaParts& parts = host_.parts();
  auto id = CreateCmId(parts.api, host_.channel(), static_cast<CmHandler*>(this));
  if (!id.ok()) return id.status();
  id_ = *std::move(id);
  const absl::Status set = SetCmOptions(parts, *id_, where.traffic_class);
  if (!set.ok()) return set;
  if (parts.api.rdma.bind_addr(id_.get(), address->get()) != 0) {
    return Annotate(ErrnoStatus(errno), "rdma_bind_addr");
  }
  return absl::OkStatus();
}

// 0, or an errno.
int PortListener::Listen(int backlog) {
  if (host_.parts().api.rdma.listen(id_.get(), backlog) != 0) return errno;
  address_ = FromSocketAddress(LocalOf(*id_));
  return 0;
}

void PortListener::OnCmEvent(const CmEventInfo& cm_event) {
  if (cm_event.type == RDMA_CM_EVENT_CONNECT_REQUEST) {
    const RdmaParts& parts = host_.parts();
    return AcceptAttempt::Accept(host_, admission_,
                                 std::make_unique<CmEndpoint>(parts, Own(parts.api, cm_event.id)),
                                 cm_event.private_data);
  }
  if (cm_event.type != RDMA_CM_EVENT_DEVICE_REMOVAL) return;
  // At once: the kernel waits for it.
  ibv_context* const context = device();
  id_.reset();
  if (context != nullptr) host_.OnRemoval(context);
  if (removed_) host_.parts().control.Post(std::exchange(removed_, nullptr));
}

}  // namespace farcall
