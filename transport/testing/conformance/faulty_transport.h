// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_TRANSPORT_TESTING_CONFORMANCE_FAULTY_TRANSPORT_H_
#define FARCALL_TRANSPORT_TESTING_CONFORMANCE_FAULTY_TRANSPORT_H_

#include <cstdint>
#include <memory>

#include "absl/status/statusor.h"
#include "transport/transport.h"

namespace farcall {

// Which rule of transport.h a FaultyTransport breaks.
enum class PlantedFault : uint8_t {
  kNone,
  kDropsAByte,         // of each read above 100 bytes
  kSwapsReads,         // two reads change places
  kClosesTwice,        // OnClose comes twice
  kNeverDrains,        // OnDrained does not come
  kCountsItsFrames,    // backlog() counts more than was written
  kCountsWhatLeft,     // backlog() counts bytes that have left, until all have
  kReadsAfterClose,    // OnRead comes after Close
  kReadsWhilePaused,   // PauseRead does nothing
  kCallsBackAtOnce,    // OnClose comes from inside Close
  kForgetsTheFlush,    // Close(kFlush) aborts
  kKeepsABlock,        // one block never comes home while the transport lives
  kLandsElsewhere,     // bytes lie a place further than where they were wanted
  kWritesLate,         // writes to a place that has no reference any more
  kConnectsInside,     // OnConnect comes from inside Connect
  kAcceptsAfterClose,  // closing a Listener does nothing
};

// A working Transport with one rule broken, to see whether the conformance suite
// notices. For loops that one thread steps.
class FaultyTransport final : public Transport {
 public:
  // `inner` outlives it, and it its connections.
  FaultyTransport(Transport& inner, PlantedFault fault) : inner_(inner), fault_(fault) {}

  void Connect(EventLoop& loop, const Address& peer, const ConnectOptions& options,
               OnConnect done) override;
  absl::StatusOr<std::unique_ptr<Listener>> Listen(LoopGroup& loops, const Address& address,
                                                   const ListenOptions& options,
                                                   OnAccept on_accept) override;

 private:
  Transport& inner_;
  const PlantedFault fault_;
  Buffer kept_;
};

}  // namespace farcall

#endif  // FARCALL_TRANSPORT_TESTING_CONFORMANCE_FAULTY_TRANSPORT_H_
