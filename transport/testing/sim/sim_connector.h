// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_TRANSPORT_TESTING_SIM_SIM_CONNECTOR_H_
#define FARCALL_TRANSPORT_TESTING_SIM_SIM_CONNECTOR_H_

#include <memory>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "transport/buffer/block_pool.h"
#include "transport/testing/sim/sim_network.h"
#include "transport/testing/test_random.h"
#include "transport/transport.h"

namespace farcall {

// One attempt to connect in a simulated network. It owns itself until it has called
// went.
class SimConnector {
 public:
  // With `loop` held.
  static void Start(EventLoop& loop, SimNetwork& network, BlockPool& pool, const Address& peer,
                    const ConnectOptions& options, Transport::OnConnect done);

 private:
  SimConnector(EventLoop& loop, SimNetwork& network, BlockPool& pool, const Address& peer,
               const ConnectOptions& options, Transport::OnConnect done);

  absl::Status Validate() const;
  void SendConnect();
  void OnTime();
  void Join(std::shared_ptr<SimListening> listening);
  void Finish(absl::Status status);
  absl::StatusOr<std::unique_ptr<Connection>> Result();

  EventLoop& loop_;
  SimNetwork& network_;
  BlockPool& pool_;
  const Address peer_;
  const ConnectOptions options_;
  Transport::OnConnect done_;
  TestRandom random_;
  bool silent_ = false;  // no answer comes, so the timer is the timeout
  absl::Status status_;
  std::unique_ptr<Connection> connection_;
  Timer timer_;
  std::unique_ptr<SimConnector> self_;  // until Finish
};

}  // namespace farcall

#endif  // FARCALL_TRANSPORT_TESTING_SIM_SIM_CONNECTOR_H_
