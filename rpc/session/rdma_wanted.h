// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_RPC_SESSION_RDMA_WANTED_H_
#define FARCALL_RPC_SESSION_RDMA_WANTED_H_

#include "transport/transport.h"

namespace farcall {

// What ChannelOptions or ServerOptions ask of the transport.
template <typename Options>
UseRdma RdmaWanted(const Options& options) {
  if (options.require_rdma) return UseRdma::kRequire;
  return options.use_rdma ? UseRdma::kPrefer : UseRdma::kNo;
}

}  // namespace farcall

#endif  // FARCALL_RPC_SESSION_RDMA_WANTED_H_
