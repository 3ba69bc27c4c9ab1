// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_TRANSPORT_TESTING_SIM_SIM_NETWORK_H_
#define FARCALL_TRANSPORT_TESTING_SIM_SIM_NETWORK_H_

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "transport/address.h"
#include "transport/carrier/accept_gate.h"
#include "transport/loop/loop_group.h"
#include "transport/testing/sim/sim_options.h"
#include "transport/testing/test_random.h"
#include "transport/transport.h"

namespace farcall {

// Where somebody listens in a simulated network.
struct SimListening {
  SimListening(LoopGroup& group, const ConnectionOptions& of_connections,
               Transport::OnAccept on_accept)
      : loops(group), options(of_connections), gate(std::move(on_accept)) {}

  LoopGroup& loops;  // until the gate is closed
  const ConnectionOptions options;
  AcceptGate gate;
};

// What the ends of simulated connections share: who listens where, and the dice. Any
// thread, though only one thread gives the same run for the same seed.
class SimNetwork {
 public:
  explicit SimNetwork(const SimOptions& options) : options_(options), random_(options.seed) {}

  const SimOptions& options() const { return options_; }
  // Dice of their own for each thing that needs some.
  TestRandom NextRandom();
  // Never given before.
  Address NextClientAddress();

  // The address where it is open, with a port where 0 was asked for. kAlreadyExists.
  absl::StatusOr<Address> Open(const Address& address, std::shared_ptr<SimListening> listening);
  void Close(const Address& address);
  // Null: nothing listens there.
  std::shared_ptr<SimListening> Find(const Address& address);

  // From now on no answer comes from `address`.
  void Silence(const Address& address);
  bool Silent(const Address& address);

 private:
  const SimOptions options_;
  std::mutex mutex_;
  // Guarded by mutex_; addresses as text.
  TestRandom random_;
  uint16_t ports_ = 1024;
  uint32_t clients_ = 0;
  std::map<std::string, std::shared_ptr<SimListening>> listening_;
  std::set<std::string> silent_;
};

}  // namespace farcall

#endif  // FARCALL_TRANSPORT_TESTING_SIM_SIM_NETWORK_H_
