// SPDX-License-Identifier: Apache-2.0
//
// Server: protobuf services on an address.
//
//   farcall::Server server;
//   EchoServiceImpl echo;
//   server.AddService(&echo, farcall::SERVER_DOESNT_OWN_SERVICE);
//   absl::Status started = server.Start("0.0.0.0:8002", options);
//
// A handler answers by running its `done`, at once or later, on any thread. It may
// make calls of its own. If it throws, the call fails with EINTERNAL; it must not have given
// `done` to anybody by then. What it needs to know of the call is in its Controller:
//   auto& controller = *static_cast<farcall::Controller*>(rpc_controller);

#ifndef FARCALL_RPC_SERVER_H_
#define FARCALL_RPC_SERVER_H_

#include <atomic>
#include <memory>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "google/protobuf/service.h"
#include "rpc/controller.h"
#include "rpc/options.h"
#include "transport/address.h"
#include "transport/base/time.h"

namespace farcall {

class Listener;
struct ServerCore;

enum ServiceOwnership { SERVER_OWNS_SERVICE, SERVER_DOESNT_OWN_SERVICE };

// One thread at a time, except Stop.
class Server {
 public:
  Server();
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;
  // Stop(0), then waits for the handlers that are running. Not from a handler.
  ~Server();

  // Before Start. A service that is not owned outlives the server. Fails when the server has
  // a service of that name.
  absl::Status AddService(google::protobuf::Service* service, ServiceOwnership ownership);

  // Listens and serves, once. `address`: "1.2.3.4:port", "[::]:port" (IPv4 too), "unix:PATH" or
  // "host:port"; port 0: the system chooses. Errors name the address and the cause.
  absl::Status Start(absl::string_view address, const ServerOptions& options = {});
  // On every address of the machine.
  absl::Status Start(uint16_t port, const ServerOptions& options = {});
  // Where it listens. After Start.
  const Address& listen_address() const;

  // Accepts no more; requests that still come are answered with ELOGOFF. Waits up to
  // `grace` for those that run, then sends what was answered and closes the connections.
  // kDeadlineExceeded tells how many calls were left without an answer; their closures
  // may still be run, to no effect, while the runtime lives. Not from a handler or
  // closure that runs inline.
  absl::Status Stop(Duration grace);

  // Connections open now.
  int connection_count() const;

 private:
  absl::Status StartOn(const Address& address, const ServerOptions& options);

  std::shared_ptr<ServerCore> core_;
  std::unique_ptr<Listener> listener_;  // null: not started
  std::atomic<bool> stopped_{false};
};

}  // namespace farcall

#endif  // FARCALL_RPC_SERVER_H_
