// SPDX-License-Identifier: Apache-2.0

#include "rpc/server.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "rpc/cluster/resolve.h"
#include "rpc/cluster/target.h"
#include "rpc/runtime.h"
#include "rpc/session/rdma_wanted.h"
#include "rpc/session/server_core.h"
#include "rpc/session/server_session.h"
#include "rpc/traffic_class.h"
#include "transport/base/check.h"
#include "transport/base/cores.h"
#include "transport/loop/blocking.h"
#include "transport/loop/loop_group.h"
#include "transport/transport.h"

namespace farcall {
namespace {

int HandlerThreads(const ServerOptions& options) {
  return options.handler_threads >= 0 ? options.handler_threads : std::max(4, 2 * UsableCores());
}

// The address to listen on: as it stands, or the first of a name's.
absl::StatusOr<Address> ListenAddress(absl::string_view text) {
  absl::StatusOr<Address> address = Address::Parse(text);
  if (address.ok()) return address;
  const absl::StatusOr<Target> target = Target::Parse(text, /*lowest_port=*/0);
  if (!target.ok()) return target.status();
  const auto resolved = Resolve(target->host, target->port);
  if (!resolved.ok()) return resolved.status();
  return resolved->front();
}

}  // namespace

Server::Server() : core_(std::make_shared<ServerCore>()) {}

Server::~Server() {
  (void)Stop(Duration::zero());
  BeforeBlocking();
  core_->running.WaitForNone();
  core_->handlers = nullptr;
  // Here rather than with the core, whose last holder may hold a loop. A connection that
  // did not close in time may still look at them.
  if (core_->connections.count() == 0) core_->services.DestroyOwned();
}

absl::Status Server::AddService(google::protobuf::Service* service, ServiceOwnership ownership) {
  if (listener_ != nullptr) {
    return absl::FailedPreconditionError("services are added before the server starts");
  }
  if (ownership == SERVER_OWNS_SERVICE) {
    return core_->services.AddOwned(std::unique_ptr<google::protobuf::Service>(service));
  }
  return core_->services.Add(*service);
}

absl::Status Server::Start(absl::string_view address, const ServerOptions& options) {
  const absl::StatusOr<Address> parsed = ListenAddress(address);
  if (!parsed.ok()) return parsed.status();
  return StartOn(*parsed, options);
}

absl::Status Server::Start(uint16_t port, const ServerOptions& options) {
  const absl::Status both = StartOn(Address::Ipv6({}, port), options);
  // A machine without IPv6 has no such address family.
  if (both.ok() || listener_ != nullptr || absl::IsInvalidArgument(both)) return both;
  const absl::Status ipv4 = StartOn(Address::Ipv4({}, port), options);
  return ipv4.ok() ? ipv4 : both;
}

absl::Status Server::StartOn(const Address& address, const ServerOptions& options) {
  if (absl::Status status = options.Validate(); !status.ok()) return status;
  if (listener_ != nullptr) return absl::FailedPreconditionError("a server starts once");
  const absl::StatusOr<int> traffic_class = TrafficClass(options.traffic_class);
  if (!traffic_class.ok()) return traffic_class.status();
  Runtime* runtime = options.runtime;
  if (runtime == nullptr) {
    absl::StatusOr<Runtime*> usual = Runtime::Default();
    if (!usual.ok()) return usual.status();
    runtime = *usual;
  }
  core_->parts = runtime->parts();
  core_->options = options;
  core_->handlers = nullptr;
  if (const int threads = HandlerThreads(options); threads > 0) {
    auto handlers = HandlerPool::Start(threads);
    if (!handlers.ok()) return handlers.status();
    core_->handlers = *std::move(handlers);
  }
  ListenOptions listen;
  listen.connection.traffic_class = *traffic_class;
  listen.rdma = RdmaWanted(options);
  auto listener = core_->parts.transport->Listen(
      *core_->parts.loops, address, listen,
      [core = core_](EventLoop& loop, std::unique_ptr<Connection> connection) {
        ServerSession::Accept(core, loop, std::move(connection));
      });
  if (!listener.ok()) return listener.status();
  listener_ = *std::move(listener);
  return absl::OkStatus();
}

const Address& Server::listen_address() const {
  Check(listener_ != nullptr, "the server has been started");
  return listener_->address();
}

absl::Status Server::Stop(Duration grace) {
  if (listener_ == nullptr || stopped_.exchange(true)) return absl::OkStatus();
  BeforeBlocking();
  listener_->Close();
  core_->stopping = true;
  const int left = core_->unanswered.WaitForNone(grace);
  for (const std::shared_ptr<ServerSession>& session : core_->TakeAll()) {
    session->loop().RunOrPost(
        [session] { session->Close(absl::CancelledError("the server stopped")); });
  }
  // The transport bounds how long a close takes; twice that means that no loop runs.
  core_->connections.WaitForNone(2 * ConnectionOptions().close_timeout);
  if (left == 0) return absl::OkStatus();
  return absl::DeadlineExceededError(
      absl::StrCat(left, left == 1 ? " call was" : " calls were", " not answered within ",
                   std::chrono::duration_cast<std::chrono::milliseconds>(grace).count(), " ms"));
}

int Server::connection_count() const { return core_->connections.count(); }

}  // namespace farcall
