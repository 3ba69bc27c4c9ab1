// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_TRANSPORT_TESTING_SIM_SIM_TRANSPORT_H_
#define FARCALL_TRANSPORT_TESTING_SIM_SIM_TRANSPORT_H_

#include <memory>

#include "absl/status/statusor.h"
#include "transport/buffer/block_pool.h"
#include "transport/testing/sim/sim_network.h"
#include "transport/transport.h"

namespace farcall {

// One host's Transport into a simulated network; addresses are IPv4, and one network
// serves all hosts alike. All that happens is tasks and timers of the loops.
class SimTransport final : public Transport {
 public:
  // Both outlive the transport, its connections, and the loops' last turn.
  SimTransport(SimNetwork& network, BlockPool& pool) : network_(network), pool_(pool) {}

  void Connect(EventLoop& loop, const Address& peer, const ConnectOptions& options,
               OnConnect done) override;
  absl::StatusOr<std::unique_ptr<Listener>> Listen(LoopGroup& loops, const Address& address,
                                                   const ListenOptions& options,
                                                   OnAccept on_accept) override;

 private:
  SimNetwork& network_;
  BlockPool& pool_;
};

}  // namespace farcall

#endif  // FARCALL_TRANSPORT_TESTING_SIM_SIM_TRANSPORT_H_
