// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_RPC_RUNTIME_PARTS_H_
#define FARCALL_RPC_RUNTIME_PARTS_H_

#include <functional>
#include <memory>

#include "absl/status/statusor.h"
#include "rpc/options.h"

namespace farcall {

class BlockPool;
class Clock;
class CopyTally;
class InFlight;
class LoopGroup;
class MemoryRegistrar;
class NameCache;
class RegistrationCache;
class SessionRegistry;
class TlsClientContext;
class TlsServerContext;
class Transport;
struct RuntimeStatus;

// What channels and servers use of a runtime; all of it outlives them.
struct RuntimeParts {
  const Clock* clock = nullptr;
  LoopGroup* loops = nullptr;
  Transport* transport = nullptr;
  BlockPool* pool = nullptr;  // the transport's
  // Runs something that may block, later, on a thread of its own. False: too much waits.
  std::function<bool(std::function<void()>)> run_blocking;
  // The names of servers, by run_blocking.
  std::shared_ptr<NameCache> names = nullptr;
  // Load keys and certificates. Null: the transport has no TLS.
  std::function<absl::StatusOr<std::shared_ptr<TlsClientContext>>(const ClientTlsOptions&)>
      client_tls;
  std::function<absl::StatusOr<std::shared_ptr<TlsServerContext>>(const ServerTlsOptions&)>
      server_tls;
  LogSink log;
  // Of channels and servers that set none.
  int traffic_class = 0;
  // The channels' sessions that are not gone yet, counted by themselves; null: not counted.
  InFlight* sessions = nullptr;
  SessionRegistry* registry = nullptr;  // of the same; null: not listed
  CopyTally* copied = nullptr;          // null: not counted
  // Makes the program's memory known to devices; null: there are none.
  MemoryRegistrar* registrar = nullptr;
  RegistrationCache* registrations = nullptr;  // null: off
  // What the runtime tells of itself, for /status and Runtime::Dump. Any thread, no loop held;
  // takes half a second at most. Null: nothing is known.
  std::function<RuntimeStatus()> status;
};

}  // namespace farcall

#endif  // FARCALL_RPC_RUNTIME_PARTS_H_
