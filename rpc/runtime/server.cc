// SPDX-License-Identifier: Apache-2.0

#include "rpc/runtime/server.h"

#include <algorithm>
#include <chrono>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "google/protobuf/descriptor.h"
#include "rpc/errors.h"
#include "rpc/http/http_protocol.h"
#include "rpc/naming/resolve.h"
#include "rpc/naming/target.h"
#include "rpc/reflection/reflection.h"
#include "rpc/runtime/runtime.h"
#include "rpc/session/rdma_wanted.h"
#include "rpc/session/server/refuse_waiting.h"
#include "rpc/session/server/server_core.h"
#include "rpc/session/server/server_session.h"
#include "rpc/status/status_pages.h"
#include "rpc/traffic_class.h"
#include "transport/base/check.h"
#include "transport/base/host/cores.h"
#include "transport/base/host/process_mark.h"
#include "transport/loop/drive/blocking.h"
#include "transport/loop/loop_group.h"
#include "transport/transport.h"

namespace farcall {
namespace {

const Duration kCloseTimeout = ConnectionOptions().close_timeout;
// Of those on handler threads, in synchronous calls: beyond, such a call fails with ELIMIT.
constexpr int kMaxWaitingHandlers = 64;
// How often a destructor that has to wait says so.
constexpr Duration kLogEvery = std::chrono::seconds(5);

// A time that several waits share.
class TimeLeft {
 public:
  explicit TimeLeft(Duration all) : all_(all) {}
  // Below 0: it is over.
  Duration operator()() const { return all_ - (std::chrono::steady_clock::now() - begin_); }

 private:
  const Duration all_;
  const TimePoint begin_ = std::chrono::steady_clock::now();
};

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

// Beside the program's services; false: it has one of that name itself, which stays.
bool AddReflection(ServiceMap& services) {
  std::vector<const google::protobuf::ServiceDescriptor*> listed;
  for (const ServiceMap::Found& method : services.all()) {
    const google::protobuf::ServiceDescriptor* const service = method.method->service();
    if (listed.empty() || listed.back() != service) listed.push_back(service);
  }
  return services.AddOwned(MakeReflection(std::move(listed))).ok();
}

std::string NoMethod(absl::string_view full_method) {
  return absl::StrCat("MaxConcurrencyOf: the server has no method \"", full_method, "\"");
}

absl::StatusOr<std::shared_ptr<TlsServerContext>> LoadTls(const RuntimeParts& parts,
                                                          const ServerTlsOptions& options) {
  if (parts.server_tls) return parts.server_tls(options);
  return absl::FailedPreconditionError("ServerOptions::tls: this runtime has no TLS");
}

}  // namespace

Server::Server() : core_(std::make_shared<ServerCore>()) {}

Server::~Server() {
  if (core_->parts.loops != nullptr && !core_->parts.loops->at(0).process().here()) {
    // It listens, and its threads run, in the parent.
    KeepForEver(core_);
    KeepForEver(std::move(status_));
    KeepForEver(std::shared_ptr<Listener>(std::move(listener_)));
    return;
  }
  (void)Stop(Duration::zero());
  // Where no thread takes over it has to wait all the same.
  (void)BeforeBlocking();
  core_->running.WaitForNone();
  // Those of a loop that was held up for longer than Stop waits. They need the loop until they
  // have closed, and its runtime may be destroyed next.
  while (const int left = core_->connections.WaitForNone(kLogEvery)) {
    core_->parts.log(LogSeverity::kWarning,
                     absl::StrCat("a server waits with its end for ", left,
                                  " connections to close: a handler holds up their loop, or TLS "
                                  "waits for their peers"));
  }
  // Not deleted: answers that come later still ask it (ServerCall::MoreWait).
  if (core_->handlers != nullptr) core_->handlers->Stop();
  core_->services.DropMessages();
  // Here rather than with the core, whose last holder may hold a loop.
  core_->services.DestroyOwned();
}

absl::Status Server::AddService(google::protobuf::Service* service, ServiceOwnership ownership,
                                const ServiceOptions& options) {
  std::unique_ptr<google::protobuf::Service> owned(ownership == SERVER_OWNS_SERVICE ? service
                                                                                    : nullptr);
  if (service == nullptr) return absl::InvalidArgumentError("AddService: the service is null");
  if (listener_ != nullptr) {
    return absl::FailedPreconditionError("services are added before the server starts");
  }
  AttachmentPlacer* const placer = options.attachment_placer;
  return owned != nullptr ? core_->services.AddOwned(std::move(owned), placer)
                          : core_->services.Add(*service, placer);
}

absl::Status Server::Start(absl::string_view address, const ServerOptions& options) {
  const absl::StatusOr<Address> parsed = ListenAddress(address);
  if (!parsed.ok()) return parsed.status();
  return StartOn(*parsed, options);
}

absl::Status Server::Start(uint16_t port, const ServerOptions& options) {
  const absl::Status both = StartOn(Address::Ipv6({}, port), options);
  // What a transport says to an address family that the kernel does not have.
  return absl::IsUnimplemented(both) ? StartOn(Address::Ipv4({}, port), options) : both;
}

// Fills the core, of which no connection knows yet.
absl::Status Server::Prepare(const ServerOptions& options) {
  Runtime* runtime = options.runtime;
  if (runtime == nullptr) {
    absl::StatusOr<Runtime*> usual = Runtime::Default();
    if (!usual.ok()) return usual.status();
    runtime = *usual;
  }
  if (const ProcessMark& process = runtime->parts().loops->at(0).process(); !process.here()) {
    return process.NotHere();
  }
  core_->parts = runtime->parts();
  core_->options = options;
  core_->limit.Set(options.max_concurrency);
  core_->started = core_->parts.clock->Now();
  reflects_ = options.reflection && AddReflection(core_->services);
  if (options.http) {
    status_ = std::make_shared<StatusCollector>(*core_, [runtime] { return runtime->status(); });
    HttpPages pages;
    AddStatusPages(status_, pages);
    ServeHttp(*core_, std::move(pages));
  }
  const int threads = HandlerThreads(options);
  if (threads == 0) return absl::OkStatus();
  core_->handlers =
      std::make_unique<HandlerPool>(threads, options.handlers_on_pool ? 0 : kMaxWaitingHandlers);
  return options.handlers_on_pool ? core_->handlers->StartAll() : absl::OkStatus();
}

void Server::TakeBackPrepare() {
  if (std::exchange(reflects_, false)) core_->services.RemoveLastOwned();
  core_->http = nullptr;
  status_ = nullptr;
  core_->handlers = nullptr;
  core_->options = ServerOptions();
  core_->parts = RuntimeParts();
}

absl::Status Server::StartOn(const Address& address, const ServerOptions& options) {
  if (absl::Status status = options.Validate(); !status.ok()) return status;
  if (listener_ != nullptr) return absl::FailedPreconditionError("a server starts once");
  if (const std::string method = core_->services.Unmet(); !method.empty()) {
    return absl::NotFoundError(NoMethod(method));
  }
  absl::Status started = Prepare(options);
  if (started.ok()) started = Listen(address, options);
  if (!started.ok()) TakeBackPrepare();
  return started;
}

absl::Status Server::Listen(const Address& address, const ServerOptions& options) {
  ListenOptions listen;
  listen.connection.traffic_class = options.traffic_class == kTrafficClassOfRuntime
                                        ? core_->parts.traffic_class
                                        : options.traffic_class;
  listen.rdma = RdmaWanted(options);
  if (options.auth != nullptr) {
    listen.verify = [core = core_](absl::string_view credential, const Address& client) {
      return core->Verify(credential, client).ok();
    };
  }
  if (options.tls != nullptr) {
    auto tls = LoadTls(core_->parts, *options.tls);
    if (!tls.ok()) return tls.status();
    listen.tls = *std::move(tls);
    listen.tls_forbids_rdma = TlsForbidsRdma(options);
  }
  auto listener = core_->parts.transport->Listen(
      *core_->parts.loops, address, listen,
      [core = core_](EventLoop& loop, std::unique_ptr<Connection> connection) {
        ServerSession::Accept(core, loop, std::move(connection));
      });
  if (!listener.ok()) return listener.status();
  listener_ = *std::move(listener);
  if (status_ != nullptr) status_->SetListenAddress(listener_->address());
  return absl::OkStatus();
}

MethodConcurrency Server::MaxConcurrencyOf(absl::string_view full_method) {
  ServiceMap& services = core_->services;
  if (services.Find(full_method).state == nullptr) {
    if (listener_ != nullptr) {
      core_->parts.log(LogSeverity::kError, NoMethod(full_method));
      return MethodConcurrency(nullptr, full_method);
    }
    // From now on Start looks for it.
    services.SetLimit(full_method, services.LimitOf(full_method));
  }
  return MethodConcurrency(&services, full_method);
}

MethodConcurrency& MethodConcurrency::operator=(MaxConcurrency max) {
  // Below 0: none, as -1 says elsewhere.
  if (!max.is_auto() && max.number() < 0) max = MaxConcurrency(0);
  if (services_ != nullptr) services_->SetLimit(method_, max);
  return *this;
}

MaxConcurrency MethodConcurrency::max() const {
  return services_ != nullptr ? services_->LimitOf(method_) : MaxConcurrency(0);
}

int MethodConcurrency::now() const {
  const MethodState* const state = services_ != nullptr ? services_->Find(method_).state : nullptr;
  return state != nullptr ? state->limit.limit() : 0;
}

const Address& Server::listen_address() const {
  Check(listener_ != nullptr, "the server has been started");
  return listener_->address();
}

absl::Status Server::Stop(Duration grace) {
  if (listener_ == nullptr) return absl::OkStatus();
  if (const ProcessMark& process = core_->parts.loops->at(0).process(); !process.here()) {
    return process.NotHere();
  }
  // Where no thread takes over it waits all the same, for a time that has an end.
  (void)BeforeBlocking();
  // Counted before the question who is first, who is thus waited for.
  core_->stops.Begin();
  if (stopped_.exchange(true)) {
    core_->stops.End();
    core_->stops.WaitForNone();
    return absl::OkStatus();
  }
  const TimePoint began = core_->parts.clock->Now();
  listener_->Close();
  const Duration listening = core_->parts.clock->Now() - began;
  core_->stopping = true;
  const TimeLeft grace_left(grace);
  const int late = core_->unanswered.WaitForNone(grace);
  // Before waiting for pages: it waits for all that are begun.
  core_->calls_over = true;
  core_->pages.WaitForNone(grace_left());
  const std::vector<std::shared_ptr<ServerSession>> sessions = core_->TakeAll();
  // The transport bounds how long a close takes; twice that is TLS, or a loop that does not run,
  // for which the listener has waited already.
  const TimeLeft closing_left(2 * kCloseTimeout - listening);
  if (late > 0) RefuseWaiting(sessions, kLogoff, "the server is stopping", kCloseTimeout);
  // A request that is being refused is among them for a moment.
  const int left = late > 0 ? core_->unanswered.count() : 0;
  for (const std::shared_ptr<ServerSession>& session : sessions) {
    session->loop().RunOrPost(
        [session] { session->Close(absl::CancelledError("the server stopped")); });
  }
  core_->connections.WaitForNone(closing_left());
  core_->stops.End();
  if (left == 0) return absl::OkStatus();
  return absl::DeadlineExceededError(
      absl::StrCat(left, left == 1 ? " call was" : " calls were", " not answered within ",
                   std::chrono::duration_cast<std::chrono::milliseconds>(grace).count(), " ms"));
}

int Server::connection_count() const { return core_->connections.count(); }

}  // namespace farcall
