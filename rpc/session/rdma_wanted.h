// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_RPC_SESSION_RDMA_WANTED_H_
#define FARCALL_RPC_SESSION_RDMA_WANTED_H_

#include "rpc/types.h"
#include "transport/transport.h"

namespace farcall {

// Of ChannelOptions or ServerOptions: whether RDMA was asked for, and TLS stands against it.
template <typename Options>
bool TlsForbidsRdma(const Options& options) {
  return (options.use_rdma || options.require_rdma) && options.tls != nullptr &&
         options.rdma_with_tls == RdmaWithTls::kRefuse;
}

// What they ask of the transport.
template <typename Options>
UseRdma RdmaWanted(const Options& options) {
  if (TlsForbidsRdma(options)) return UseRdma::kNo;
  if (options.require_rdma) return UseRdma::kRequire;
  return options.use_rdma ? UseRdma::kPrefer : UseRdma::kNo;
}

}  // namespace farcall

#endif  // FARCALL_RPC_SESSION_RDMA_WANTED_H_
