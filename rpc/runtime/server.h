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

#ifndef FARCALL_RPC_RUNTIME_SERVER_H_
#define FARCALL_RPC_RUNTIME_SERVER_H_

#include <atomic>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "google/protobuf/service.h"
#include "rpc/attachment_placer.h"
#include "rpc/controller.h"
#include "rpc/options.h"
#include "transport/address.h"
#include "transport/base/time.h"

namespace farcall {

class Listener;
class ServiceMap;
class StatusCollector;
struct ServerCore;

enum ServiceOwnership { SERVER_OWNS_SERVICE, SERVER_DOESNT_OWN_SERVICE };

// Of one service.
struct ServiceOptions {
  // Says where attachments of its requests come to lie. Null: in blocks of the pool. It may be the
  // service itself; else it outlives the server.
  AttachmentPlacer* attachment_placer = nullptr;
};

// How many calls of one method may run or wait for a thread at once; beyond, they are answered with
// ELIMIT. Any thread; valid as long as its server.
class MethodConcurrency {
 public:
  // Null: there is no such method, and nothing is set.
  MethodConcurrency(ServiceMap* services, absl::string_view method)
      : services_(services), method_(method) {}
  MethodConcurrency& operator=(MaxConcurrency max);
  MaxConcurrency max() const;
  // What it is now, also where it is found automatically; 0: no limit.
  int now() const;

 private:
  ServiceMap* services_;
  std::string method_;
};

// One thread at a time, except Stop and MaxConcurrencyOf.
class Server {
 public:
  Server();
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;
  // Stop(0), then waits for the handlers that are running and until all connections have closed,
  // which takes no longer than Stop says once inline handlers let their loops go on. Not from a
  // handler.
  ~Server();

  // Before Start. A service that is not owned outlives the server. One that is owned is the
  // server's whatever this returns: where this fails, it is destroyed at once. Fails when the
  // server has a service of that name.
  absl::Status AddService(google::protobuf::Service* service, ServiceOwnership ownership,
                          const ServiceOptions& options = {});

  // Of a method, "EchoService.Echo" or "pkg.EchoService.Echo", whose service is added before Start;
  // before Start, or after it by any thread:
  //   server.MaxConcurrencyOf("EchoService.Echo") = 10;
  //   server.MaxConcurrencyOf("EchoService.Echo") = MaxConcurrency::Auto();
  // Of a method that is not there by then: Start fails and says so; after Start, an error in the
  // log.
  MethodConcurrency MaxConcurrencyOf(absl::string_view full_method);

  // Listens and serves, once; where this fails, the server is as before and may be started with
  // other options. `address`: "1.2.3.4:port", "[::]:port" (IPv4 too), "unix:PATH" or
  // "host:port"; port 0: the system chooses. Errors name the address and the cause.
  absl::Status Start(absl::string_view address, const ServerOptions& options = {});
  // On every address of the machine: of IPv6 and IPv4, or of IPv4 alone where the kernel has no
  // IPv6.
  absl::Status Start(uint16_t port, const ServerOptions& options = {});
  // Where it listens. After Start.
  const Address& listen_address() const;

  // Accepts those who have connected by now, and then no more; requests that still come are
  // answered with ELOGOFF, which tells a client that they were not run. Waits up to `grace` for
  // the calls under way and the pages that are being made. Calls whose handler has not begun by
  // then are answered with ELOGOFF too; what was answered is sent and the connections are closed,
  // each of baidu_std on which nothing is owed with a GOAWAY (docs/server.md). kDeadlineExceeded
  // tells how many calls were left without an answer; their closures may still be run, to no
  // effect, while the runtime lives. Returns at most 6 s after the grace, whatever clients do; at
  // once where they read and close. Not from a handler or closure that runs inline. A second Stop
  // waits for the end of the first.
  absl::Status Stop(Duration grace);

  // Connections open now.
  int connection_count() const;

 private:
  absl::Status StartOn(const Address& address, const ServerOptions& options);
  absl::Status Prepare(const ServerOptions& options);
  absl::Status Listen(const Address& address, const ServerOptions& options);
  void TakeBackPrepare();

  std::shared_ptr<ServerCore> core_;
  std::shared_ptr<StatusCollector> status_;  // null: not started, or no HTTP
  std::unique_ptr<Listener> listener_;       // null: not started
  bool reflects_ = false;                    // the last service is of Prepare's making
  std::atomic<bool> stopped_{false};
};

}  // namespace farcall

#endif  // FARCALL_RPC_RUNTIME_SERVER_H_
