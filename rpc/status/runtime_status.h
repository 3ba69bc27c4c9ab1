// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_RPC_STATUS_RUNTIME_STATUS_H_
#define FARCALL_RPC_STATUS_RUNTIME_STATUS_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "transport/base/past_event.h"
#include "transport/connection_info.h"
#include "transport/copied_bytes.h"
#include "transport/rdma_status.h"
#include "transport/why_not_rdma.h"

namespace farcall {

struct LoopStatus {
  bool answered = false;      // in time; else the rest is not known
  double answer_seconds = 0;  // how long it took until the loop looked
  int connections = 0;        // of this server, or of all channels
  uint64_t turns = 0;
  uint64_t sleeps = 0;
};

// A connection of a channel to one server, or the one that there was.
struct ClientConnectionStatus {
  ConnectionInfo info;
  std::string server;
  bool connected = false;
  size_t calls = 0;  // under way
  size_t loop = 0;
};

// Of all channels: details of some.
struct ClientsStatus {
  std::vector<LoopStatus> loops;
  uint64_t sessions = 0;
  std::vector<ClientConnectionStatus> some;
};

// An option in effect, for people.
struct OptionStatus {
  std::string name;
  std::string value;
  std::string from;  // "default", "program", "/etc/farcall.yaml:7", "FARCALL_EVENT_LOOPS"
};

// What a runtime tells of itself: of all its channels and servers.
struct RuntimeStatus {
  UpgradeCounts upgrades;
  RdmaStatus rdma;
  ClientsStatus clients;
  CopiedBytes copied;
  uint64_t loops_taken_over =
      0;                       // times that a spare thread drove past user code that ran for long
  uint64_t loops_held_up = 0;  // times that none was left for that
  std::vector<PastEvent> events;  // the last ones, oldest first
  uint64_t events_forgotten = 0;
  std::vector<OptionStatus> options;
};

}  // namespace farcall

#endif  // FARCALL_RPC_STATUS_RUNTIME_STATUS_H_
