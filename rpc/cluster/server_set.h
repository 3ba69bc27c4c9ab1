// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_RPC_CLUSTER_SERVER_SET_H_
#define FARCALL_RPC_CLUSTER_SERVER_SET_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "rpc/channel_options.h"
#include "rpc/naming/server_node.h"
#include "transport/base/time.h"

namespace farcall {

// The servers of a channel: which there are, which can take calls, and which takes the next one.
// Pure: time and events in, choices out; one thread at a time (its owner's loop).
//
//            Pick            OnUnreachable, OnLeaving
//   serving ─────▶ calls     serving ────────────────▶ down ──(pause)──▶ DueProbes
//      ▲                                                 ▲                  │
//      │ slow start                                      └──── failed ──────┤
//      └──────────────────────────── OnProbe(ok) ◀──────────────────────────┘
//
// The first probe of a server that was well is due at once; if it is back within the first
// interval, only a connection broke, and it serves in full again.
//
// A server that the breaker took out needs no probe: it comes back, slowly, when its pause is
// over. The breaker takes out at most half of those that can be reached. Where no server is left,
// Pick chooses among those that the breaker took out, else among those that are down, so that
// calls find out for themselves.
class ServerSet {
 public:
  using ServerId = uint32_t;  // never used twice within a set

  struct Server {
    ServerId id = 0;
    ServerNode node;
  };
  struct Change {
    std::vector<Server> added;
    std::vector<ServerId> removed;
  };
  // What became of an attempt, as far as its server goes.
  enum class Outcome : uint8_t {
    kSuccess,     // answered; errors of the service's own among it
    kFailure,     // timed out, broke, EINTERNAL, EOVERCROWDED ...: counts against the server
    kUnanswered,  // the call did not wait for the answer: it takes this long at least
    kIgnored,     // cancelled, or it never came to the server
  };
  // What simulations judge a server by.
  struct View {
    ServerId id = 0;
    ServerNode node;
    enum class State : uint8_t { kServing, kSlowStart, kDown, kBroken } state = State::kServing;
    int in_flight = 0;
    double error_rate = 0;              // 0 to 1
    Duration latency{};                 // moving mean
    std::optional<TimePoint> next_try;  // of kDown and kBroken
  };

  // `options` are valid; `seed` is that of all that is chosen at random.
  ServerSet(const ChannelOptions& options, uint64_t seed);
  ServerSet(const ServerSet&) = delete;
  ServerSet& operator=(const ServerSet&) = delete;
  ~ServerSet();

  // Naming tells all servers that there are now. Those that stay keep their state; of the first
  // update no server starts slowly. Doubles are dropped.
  Change Update(std::vector<ServerNode> nodes, TimePoint now);
  size_t size() const;

  // The server for the next attempt: none of `tried` where another lives, or where none lives and
  // there is another. Without a `request_code`, c_hash chooses at random. Empty: there is no
  // server. Does not allocate in the long run.
  std::optional<ServerId> Pick(std::optional<uint64_t> request_code,
                               std::span<const ServerId> tried, TimePoint now);

  // Pick would give one that is not among `tried`.
  bool AnyUntried(std::span<const ServerId> tried) const;

  // An attempt begins, and ends, once each, `latency` after it began; ids of servers that are gone
  // are ignored. An answer to an attempt that began since its server is down brings it back.
  void OnStart(ServerId id);
  void OnEnd(ServerId id, Outcome outcome, Duration latency, TimePoint now);
  // It cannot be reached, or a connection to it broke.
  void OnUnreachable(ServerId id, TimePoint now);
  // It said that it stops (ELOGOFF).
  void OnLeaving(ServerId id, TimePoint now);

  // The servers whose probe is due, each given once until OnProbe.
  std::vector<ServerId> DueProbes(TimePoint now);
  // Any connection that is made says as much as one that was asked for; one that fails unasked is
  // for OnUnreachable.
  void OnProbe(ServerId id, bool ok, TimePoint now);
  // When DueProbes has something to say, at the earliest; may be over. Empty: not by itself.
  std::optional<TimePoint> next_event() const;

  std::vector<View> Views(TimePoint now) const;

 private:
  struct Impl;
  const std::unique_ptr<Impl> impl_;
};

}  // namespace farcall

#endif  // FARCALL_RPC_CLUSTER_SERVER_SET_H_
