// SPDX-License-Identifier: Apache-2.0

#include "transport/rdma/cm/cm_options.h"

#include <algorithm>
#include <cerrno>
#include <string>

#include "absl/strings/str_cat.h"
#include "transport/base/errno_status.h"
#include "transport/why_not_rdma.h"

namespace farcall {
namespace {

SocketAddress Copy(const sockaddr_storage& storage) {
  SocketAddress address;
  address.storage = storage;
  address.length = storage.ss_family == AF_INET6 ? sizeof(sockaddr_in6) : sizeof(sockaddr_in);
  return address;
}

// ibv_modify_qp(3) to RTR looks for the way to the peer's GID, and with iWARP rdma_connect(3)
// connects by TCP before it returns.
bool IsOfTheNetwork(int error) {
  return error == ETIMEDOUT || error == ENETUNREACH || error == EHOSTUNREACH || error == EAGAIN;
}

}  // namespace

absl::Status SetCmOptions(const RdmaParts& parts, rdma_cm_id& id, int traffic_class) {
  auto timeout = parts.options.ack_timeout;
  // Kernels before 5.2 do not know it, and keep their own.
  parts.api.rdma.set_option(&id, RDMA_OPTION_ID, RDMA_OPTION_ID_ACK_TIMEOUT, &timeout,
                            sizeof(timeout));
  if (traffic_class == 0) return absl::OkStatus();
  auto tos = static_cast<uint8_t>(traffic_class);
  if (parts.api.rdma.set_option(&id, RDMA_OPTION_ID, RDMA_OPTION_ID_TOS, &tos, sizeof(tos)) == 0) {
    return absl::OkStatus();
  }
  return NotRdma(WhyNotRdma::kDeviceRefused,
                 Annotate(ErrnoStatus(errno), "rdma_set_option of the traffic class").message());
}

rdma_conn_param ConnectParameters(const RdmaOptions& options, absl::string_view data,
                                  uint8_t answers, uint8_t begins) {
  rdma_conn_param param{};
  param.private_data = data.data();
  param.private_data_len = static_cast<uint8_t>(data.size());
  param.responder_resources = std::max<uint8_t>(1, answers);
  param.initiator_depth = std::max<uint8_t>(1, begins);
  param.flow_control = 1;
  param.retry_count = options.retry_count;
  param.rnr_retry_count = options.rnr_retry;
  return param;
}

// IB: reasons of the connection manager, IBTA 12.6.7.2, where 8 is a service id on which nothing
// listens on and 28 a consumer's. iWARP: an errno.
absl::Status RejectStatus(int reason) {
  if (reason < 0) return ErrnoStatus(-reason);
  if (reason == 8) return absl::UnavailableError("nothing listens there");
  return absl::UnavailableError(absl::StrCat("rejected with reason ", reason));
}

SocketAddress LocalOf(const rdma_cm_id& id) { return Copy(id.route.addr.src_storage); }
SocketAddress PeerOf(const rdma_cm_id& id) { return Copy(id.route.addr.dst_storage); }

absl::Status SetUpError(const Endpoint& end, int error) {
  std::string detail = absl::StrCat(end.call(), ": ", ErrnoStatus(error).message());
  WhyNotRdma why = IsOfTheNetwork(error) ? WhyNotRdma::kUnreachable : WhyNotRdma::kDeviceRefused;
  if (end.set_up() == "rdma_cm") {
    return NotRdma(error == ECONNREFUSED ? WhyNotRdma::kRejected : why, detail);
  }
  if (error == EPROTO) why = WhyNotRdma::kRejected;
  absl::StrAppend(&detail, " (from ", end.local().ToString(), " to ", end.peer().ToString(), ")");
  // Of MLNX_OFED's kernel modules, which do not let a program use a GID whose interface it does
  // not see.
  if (error == ENODEV) {
    absl::StrAppend(&detail,
                    "; this driver wants the interface of that GID in the program's network "
                    "namespace");
  }
  return NotRdma(why, detail);
}

}  // namespace farcall
