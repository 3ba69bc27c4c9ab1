// SPDX-License-Identifier: Apache-2.0

#include "transport/connection_info.h"

namespace farcall {

absl::string_view ToString(TransportKind kind) {
  switch (kind) {
    case TransportKind::kTcp:
      return "tcp";
    case TransportKind::kRdma:
      return "rdma";
    case TransportKind::kSimulated:
      return "simulated";
  }
  return "unknown";
}

absl::string_view Explain(WhyNotRdma why) {
  switch (why) {
    case WhyNotRdma::kInUse:
      return "RDMA is in use";
    case WhyNotRdma::kNotAsked:
      return "RDMA was not asked for: set use_rdma in the options of this end";
    case WhyNotRdma::kNotBuiltIn:
      return "this version of farcall has no RDMA transport built in yet";
  }
  return "unknown";
}

}  // namespace farcall
