// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_RPC_TESTING_SIM_TAMPERING_TRANSPORT_H_
#define FARCALL_RPC_TESTING_SIM_TAMPERING_TRANSPORT_H_

#include <memory>

#include "absl/status/statusor.h"
#include "transport/testing/test_random.h"
#include "transport/transport.h"

namespace farcall {

// What is done to one write in twenty of a connection that was opened.
enum class Tamper : uint8_t { kNothing, kDropBytes, kRepeat };

// A transport that breaks its promise, to show what becomes of calls then, and that the
// checks of a simulation see it. Connections that are accepted are left alone.
class TamperingTransport final : public Transport {
 public:
  // `inner` outlives this and its connections.
  TamperingTransport(Transport& inner, Tamper tamper, uint64_t seed)
      : inner_(inner), tamper_(tamper), random_(seed) {}

  void Connect(EventLoop& loop, const Address& peer, const ConnectOptions& options,
               OnConnect done) override;
  absl::StatusOr<std::unique_ptr<Listener>> Listen(LoopGroup& loops, const Address& address,
                                                   const ListenOptions& options,
                                                   OnAccept on_accept) override {
    return inner_.Listen(loops, address, options, std::move(on_accept));
  }

 private:
  Transport& inner_;
  const Tamper tamper_;
  TestRandom random_;  // one thread at a time
};

}  // namespace farcall

#endif  // FARCALL_RPC_TESTING_SIM_TAMPERING_TRANSPORT_H_
