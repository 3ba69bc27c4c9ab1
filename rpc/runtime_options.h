// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_RPC_RUNTIME_OPTIONS_H_
#define FARCALL_RPC_RUNTIME_OPTIONS_H_

#include <cstdint>
#include <functional>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "transport/buffer/block_pool.h"
#include "transport/buffer/registration_cache.h"
#include "transport/link_options.h"
#include "transport/loop/drive/polling.h"
#include "transport/rdma_options.h"

namespace farcall {

enum class LogSeverity : uint8_t { kInfo, kWarning, kError };
// One line, without its end. Any thread, also while a loop is held: must not block
// for long and must not call the library.
using LogSink = std::function<void(LogSeverity, absl::string_view)>;

// What becomes of the operator's settings: of the file that the environment variable FARCALL_CONFIG
// names, and of the variables FARCALL_<FIELD>, which win over the file (docs/settings.md).
enum class OperatorSettings : uint8_t {
  kFillIn,    // they take the place of what has its default value here
  kOverride,  // they take the place of all that they name
  kIgnore,    // neither is read
};

struct OptionField;  // transport/base/option_field.h

struct RuntimeOptions {
  // Event loops, each with a thread. 0: one for each core that the process may use (affinity, and
  // the quotas of its cgroups), at most 8. At most 256.
  int event_loops = 0;
  // Processors for the loops, numbers as in /proc/cpuinfo: loop i runs on cpus[i % size()] only.
  // Best those of the network adapter's NUMA node. Empty: as near_adapters says.
  std::vector<int> cpus;
  // Once RDMA is used on a host of several NUMA nodes, loops keep to those processors of the
  // adapters' nodes that the process may use, to all of a node, the nodes by turns (docs/rdma.md).
  // So do threads that the program starts inside inline handlers and closures. False, or without
  // RDMA: the scheduler chooses.
  bool near_adapters = true;
  // How the loops wait for work.
  PollingOptions polling;
  // Blocks for what is read and for large messages; shared by all connections.
  BlockPoolOptions pool;
  // For connections with use_rdma; without one, nothing is loaded or set up.
  RdmaOptions rdma;
  // Times and windows of connections that may use RDMA.
  LinkOptions link;
  // The IP traffic class (DSCP << 2) of channels and servers that set none. 0 to 255.
  int traffic_class = 0;
  // Attachments in the program's own memory that it did not register are registered when they are
  // first sent. Off; whoever turns it on has a duty (transport/buffer/registration_cache.h).
  RegistrationCacheOptions registration_cache;
  // Threads of one loop that may wait, or run for long, inside completion closures and handlers at
  // the same time, while another one drives it. 1 to 1024.
  int max_blocked_threads = 64;
  OperatorSettings operator_settings = OperatorSettings::kFillIn;
  // Null: spdlog's logger "farcall" where the program has one, else standard error.
  LogSink log;

  absl::Status Validate() const;
};

// What an operator may set, described; they point into `options`. Not among them is
// registration_cache: with it the program makes a promise.
std::vector<OptionField> Fields(RuntimeOptions& options);

}  // namespace farcall

#endif  // FARCALL_RPC_RUNTIME_OPTIONS_H_
