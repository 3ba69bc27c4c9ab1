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

}  // namespace farcall
