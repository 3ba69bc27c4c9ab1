// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_RPC_TESTING_RDMA_PEER_EXCHANGE_SERVICE_H_
#define FARCALL_RPC_TESTING_RDMA_PEER_EXCHANGE_SERVICE_H_

#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <unordered_set>

#include "rpc/testing/rdma_peer/exchange.pb.h"

namespace farcall {
class Controller;
}

namespace farcall::rdma_peer {

// Checks every byte of each request, and answers. Any thread.
class ExchangeService final : public Exchange {
 public:
  struct Counts {
    uint64_t calls = 0;
    uint64_t wrong = 0;    // requests with other bytes than their id says
    uint64_t doubled = 0;  // requests whose id came before
    uint64_t rdma = 0;     // calls that this transport carried, as farcall tells
    uint64_t tcp = 0;

    std::string ToString() const;
  };

  void Call(google::protobuf::RpcController* rpc_controller, const ExchangeRequest* request,
            ExchangeResponse* response, google::protobuf::Closure* done) override;
  Counts counts() const;
  // Of the blocks that requests came in, and that a loop's thread handled: how many, by what
  // carried them, the NUMA node of the processor, and that of the block: "rdmaB/0/1=3".
  std::string Nodes() const;

 private:
  void NoteNodes(const Controller& controller);
  void Count(uint64_t id, bool right, bool rdma);

  mutable std::mutex mutex_;
  Counts counts_;
  std::map<std::string, uint64_t> nodes_;
  std::unordered_set<uint64_t> seen_;
};

}  // namespace farcall::rdma_peer

#endif  // FARCALL_RPC_TESTING_RDMA_PEER_EXCHANGE_SERVICE_H_
