// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_TRANSPORT_LINK_UPGRADE_UPGRADE_OPTIONS_H_
#define FARCALL_TRANSPORT_LINK_UPGRADE_UPGRADE_OPTIONS_H_

#include <chrono>
#include <string>

#include "absl/status/status.h"
#include "transport/base/time.h"
#include "transport/link/stream/stream_limits.h"
#include "transport/link/upgrade/upgrade_client.h"

namespace farcall {

// What an UpgradingTransport does with its connections.
struct UpgradeOptions {
  // Off: nothing is upgraded. A client says no hello; a server declines those that it hears.
  bool use_rdma = true;
  // Connections that do not use RDMA are errors, with the reason (why_not_rdma.h): a client
  // gets its connection when it does, and none of its bytes travel by TCP; one that falls
  // back is closed. A server hands over no byte before, and closes what is not upgraded
  // within require_timeout. Needs use_rdma.
  bool require_rdma = false;
  Duration require_timeout = std::chrono::seconds(5);  // > 0

  // Client: how long looking for RDMA devices may hold up a connection, which is plain if it
  // takes longer. Only the first look takes more than microseconds. 1 ms to 60 s.
  Duration probe_timeout = std::chrono::seconds(2);
  // Client: how long the server may take to answer the hello. Who does not is spoken to
  // plainly. 1 ms to 60 s.
  Duration hello_timeout = std::chrono::milliseconds(300);
  // The same for a server that has answered one before: it is busy, as when many connect at
  // once. 1 ms to 60 s; less than hello_timeout means that.
  Duration busy_hello_timeout = std::chrono::seconds(3);
  // For how long a peer that did not answer is remembered. 0 to 1 h.
  Duration silent_peer_memory = std::chrono::seconds(60);
  // Server: the first bytes of peers that could have said hello. Of those that say none, who begins
  // otherwise, as a browser or a port scanner, is not missed: neither counted nor logged. Empty:
  // all count.
  std::string counted_opening;
  // Server: half a hello, and silence; or something to be written while nothing came. 1 ms to
  // 60 s.
  Duration sniff_timeout = std::chrono::seconds(3);

  UpgradeTimes upgrade;
  // close_timeout is that of ConnectionOptions instead.
  StreamLimits stream;

  // kInvalidArgument, with the name of the option.
  absl::Status Validate() const;
};

}  // namespace farcall

#endif  // FARCALL_TRANSPORT_LINK_UPGRADE_UPGRADE_OPTIONS_H_
