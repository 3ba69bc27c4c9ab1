// SPDX-License-Identifier: Apache-2.0

#include "transport/connection_info.h"

#include "absl/strings/str_cat.h"

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

std::string ConnectionInfo::peer_name() const {
  if (peer.family() != AddressFamily::kNone) return peer.ToString();
  return absl::StrCat("(a client of ", local.ToString(), ")");
}

}  // namespace farcall
