// SPDX-License-Identifier: Apache-2.0
//
// Options of servers and channels that speak TLS.

#ifndef FARCALL_RPC_TESTING_TLS_TESTING_H_
#define FARCALL_RPC_TESTING_TLS_TESTING_H_

#include <memory>

#include "rpc/runtime/channel.h"
#include "rpc/runtime/server.h"
#include "rpc/testing/test_peers.h"
#include "transport/tls_options.h"

namespace farcall {

inline ServerOptions WithTls(const ServerTlsOptions& tls) {
  ServerOptions options;
  options.tls = std::make_shared<const ServerTlsOptions>(tls);
  return options;
}

// A call that fails does so at once.
inline ChannelOptions WithTls(const ClientTlsOptions& tls) {
  ChannelOptions options = Patient();
  options.tls = std::make_shared<const ClientTlsOptions>(tls);
  options.max_retry = 0;
  return options;
}

}  // namespace farcall

#endif  // FARCALL_RPC_TESTING_TLS_TESTING_H_
