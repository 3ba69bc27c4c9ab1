// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_RPC_STATUS_STATUS_COLLECTOR_H_
#define FARCALL_RPC_STATUS_STATUS_COLLECTOR_H_

#include <functional>
#include <mutex>
#include <string>

#include "rpc/session/server/server_core.h"
#include "rpc/status/server_status.h"
#include "transport/address.h"

namespace farcall {

// Finds out how a server is. Any thread.
class StatusCollector {
 public:
  // Sampling begins: after the last service was added, and before the first call. `core` outlives
  // this. `runtime`: what the runtime tells of itself.
  StatusCollector(ServerCore& core, std::function<RuntimeStatus()> runtime);

  // Where the server listens: the address that was asked for, then the one that it got.
  void SetListenAddress(const Address& address);

  // No loop is held. Takes well below a millisecond where loops answer, and at most half a
  // second where they do not.
  ServerStatus Collect();

 private:
  std::vector<MethodStatus> Methods(StatsSampler::View& view) const;

  ServerCore& core_;
  const std::function<RuntimeStatus()> runtime_;
  std::mutex mutex_;
  std::string listen_address_;  // guarded by mutex_
};

}  // namespace farcall

#endif  // FARCALL_RPC_STATUS_STATUS_COLLECTOR_H_
