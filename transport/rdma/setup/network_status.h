// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_TRANSPORT_RDMA_SETUP_NETWORK_STATUS_H_
#define FARCALL_TRANSPORT_RDMA_SETUP_NETWORK_STATUS_H_

#include <cstddef>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "transport/address.h"

namespace farcall {

// All annotations of an object of Kubernetes have no more bytes together
// (TotalAnnotationSizeLimitB).
constexpr size_t kMaxNetworkStatus = size_t{256} * 1024;

// A network that Multus, or another program that writes this annotation, attached a pod to.
struct PodNetwork {
  std::string name;                // of its NetworkAttachmentDefinition
  std::string interface;           // in the pod; empty: unknown
  std::vector<Address> addresses;  // port 0; none where no address was given by IPAM
  bool is_default = false;         // the one that Services lead to
};

// The text of k8s.v1.cni.cncf.io/network-status: a JSON array. Fields that are not in
// PodNetwork are skipped. kInvalidArgument: it is too long, is something else, or has an
// address that is none.
absl::StatusOr<std::vector<PodNetwork>> ParseNetworkStatus(absl::string_view text);

// Whether an address (port 0) of an interface belongs to a network beside the default one: that
// has this address, or this interface.
bool IsOfSecondNetwork(const std::vector<PodNetwork>& networks, const Address& address,
                       absl::string_view interface);

}  // namespace farcall

#endif  // FARCALL_TRANSPORT_RDMA_SETUP_NETWORK_STATUS_H_
