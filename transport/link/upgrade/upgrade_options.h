// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_TRANSPORT_LINK_UPGRADE_UPGRADE_OPTIONS_H_
#define FARCALL_TRANSPORT_LINK_UPGRADE_UPGRADE_OPTIONS_H_

#include <string>

#include "transport/link_options.h"

namespace farcall {

// What a LinkTransport does with its connections.
struct UpgradeOptions : LinkOptions {
  // Off: nothing is upgraded. A client says no hello; a server declines those that it hears.
  bool use_rdma = true;
  // Connections that do not use RDMA are errors, with the reason (why_not_rdma.h): a client
  // gets its connection when it does, and none of its bytes travel by TCP; one that falls
  // back is closed. A server hands over no byte before, and closes what is not upgraded
  // within require_timeout. Needs use_rdma.
  bool require_rdma = false;
  // Client: each of several rails over ports of its own at both ends, as many as there are, up to
  // stream.rails.
  bool rails_apart = false;
  // Server: the first bytes of peers that could have said hello. Of those that say none, who begins
  // otherwise, as a browser or a port scanner, is not missed: neither counted nor logged. Empty:
  // all count.
  std::string counted_opening;
};

}  // namespace farcall

#endif  // FARCALL_TRANSPORT_LINK_UPGRADE_UPGRADE_OPTIONS_H_
