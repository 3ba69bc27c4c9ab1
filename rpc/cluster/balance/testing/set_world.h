// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_RPC_CLUSTER_BALANCE_TESTING_SET_WORLD_H_
#define FARCALL_RPC_CLUSTER_BALANCE_TESTING_SET_WORLD_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "rpc/channel_options.h"
#include "rpc/cluster/server_set.h"
#include "transport/base/time.h"
#include "transport/testing/test_random.h"

namespace farcall {

// What stands behind an address in the simulation.
struct Machine {
  ServerNode node;
  bool alive = true;
  bool listed = true;  // naming tells it
  double fails = 0;    // the share of calls
  double slow = 1;     // times the usual latency
};

ServerNode NodeOf(int number, int weight);
std::vector<Machine> RandomMachines(TestRandom& random);
ChannelOptions RandomOptions(TestRandom& random);
// The nodes that are listed, in any order.
std::vector<ServerNode> Listed(const std::vector<Machine>& machines, TestRandom& random);

// What the set must know of each server, and what it may do then. Sees all that goes in, and
// checks all that comes out. Each check returns what is wrong, or "".
class SetJudge {
 public:
  using ServerId = ServerSet::ServerId;

  SetJudge(const ServerSet& set, const ChannelOptions& options) : set_(set), options_(options) {}

  std::string OnUpdate(const ServerSet::Change& change, const std::vector<Machine>& machines);
  void OnStart(ServerId id) { ++servers_.at(id).in_flight; }
  void OnEnd(ServerId id, ServerSet::Outcome outcome, TimePoint began, TimePoint now);
  void OnDown(ServerId id, TimePoint now);
  void OnProbe(ServerId id, bool ok, TimePoint now);

  std::string CheckPick(std::optional<ServerId> picked, const std::vector<ServerId>& tried,
                        const std::vector<ServerSet::View>& before) const;
  // Before DueProbes, and of what it returned.
  std::string CheckNextEvent(TimePoint now) const;
  std::string CheckProbe(ServerId id, TimePoint now);
  std::string CheckViews(TimePoint now);

  // The machine's number; empty: it is gone.
  std::optional<int> MachineOf(ServerId id) const;
  std::optional<ServerId> ServerOf(int machine) const;

 private:
  struct Known {
    int machine = 0;
    int in_flight = 0;
    bool down = false;
    bool probing = false;
    int probes = 0;  // failed since it fell
    TimePoint fell_at{};
    TimePoint probed_at{};  // or fell
    bool broken = false;    // as was seen last
  };
  Duration Pause(int probes) const;

  const ServerSet& set_;
  const ChannelOptions& options_;
  std::map<ServerId, Known> servers_;
  ServerId last_id_ = 0;
  bool fewer_ = false;  // can be reached than at the last CheckViews
};

}  // namespace farcall

#endif  // FARCALL_RPC_CLUSTER_BALANCE_TESTING_SET_WORLD_H_
