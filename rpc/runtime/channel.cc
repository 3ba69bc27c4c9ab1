// SPDX-License-Identifier: Apache-2.0

#include "rpc/runtime/channel.h"

#include <algorithm>
#include <cerrno>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "google/protobuf/descriptor.h"
#include "rpc/call/client_call.h"
#include "rpc/cluster/cluster.h"
#include "rpc/naming/naming.h"
#include "rpc/runtime/runtime.h"
#include "rpc/runtime/send_request.h"
#include "rpc/traffic_class.h"
#include "rpc/wire/pack.h"
#include "transport/base/check.h"
#include "transport/base/host/process_mark.h"
#include "transport/base/threads/chunk_pool.h"
#include "transport/base/threads/thread_slot.h"
#include "transport/buffer/registration_cache.h"
#include "transport/loop/drive/blocking.h"
#include "transport/loop/loop_group.h"

namespace farcall {

class ChannelCall;

// What the calls of a channel on one loop share. Each call under way holds a reference to it; with
// one for all loops, their calls would write the same count.
struct alignas(64) ChannelCalls : CallEnvironment {
  // Of calls with closures, used again, so that the steady state allocates nothing.
  ChunkPool<ChannelCall> memory;
  std::shared_ptr<Cluster> cluster;  // lives until the call has ended, which it knows
  RoutedCall::Plan plan;             // but for the deadline: of calls that wish for nothing else
};

// A call with a closure.
class ChannelCall final : public RoutedCall {
 public:
  ChannelCall(const std::shared_ptr<ChannelCalls>& all,
              const google::protobuf::MethodDescriptor& method, Controller& controller,
              google::protobuf::Message* response, google::protobuf::Closure* done)
      : RoutedCall(all, method, controller, response, done), memory_(all->memory) {}

 private:
  void Dispose() override {
    const std::shared_ptr<const CallEnvironment> kept = TakeEnvironment();
    memory_.Delete(this);
  }

  ChunkPool<ChannelCall>& memory_;
};

namespace {

ConnectionType ConnectionTypeOf(const RoutedCall& call, Controller& controller,
                                const ChannelOptions& options) {
  const auto* const wishes = controller.overrides();
  const auto own = wishes != nullptr ? wishes->connection_type : std::nullopt;
  if (own.has_value() || options.pooled_from_bytes == 0 ||
      options.connection_type != CONNECTION_TYPE_SINGLE) {
    return own.value_or(options.connection_type);
  }
  const size_t bytes = std::max(controller.request_attachment().size(), call.response_memory());
  return bytes < options.pooled_from_bytes ? CONNECTION_TYPE_SINGLE : CONNECTION_TYPE_POOLED;
}

RoutedCall::Plan PlanOf(const Controller::Overrides& own, const ChannelOptions& options) {
  const int64_t backup_ms = own.backup_request_ms.value_or(options.backup_request_ms);
  return {
      .deadline = TimePoint::max(),
      .max_retry = std::clamp(own.max_retry.value_or(options.max_retry), 0, 100),
      .backup_after = backup_ms < 0
                          ? Duration::max()
                          : std::chrono::milliseconds(std::min<int64_t>(backup_ms, INT32_MAX)),
      .connection_type = options.connection_type,
      .request_code = own.request_code,
  };
}

// Before the attachment of the request is taken. `usual`: of a call that wishes for nothing.
RoutedCall::Plan PlanOf(const RoutedCall& call, Controller& controller,
                        const ChannelOptions& options, const RoutedCall::Plan& usual) {
  const Controller::Overrides* const own = controller.overrides();
  RoutedCall::Plan plan = own != nullptr ? PlanOf(*own, options) : usual;
  plan.connection_type = ConnectionTypeOf(call, controller, options);
  return plan;
}

Packing PackingOf(const Controller& controller, const ChannelOptions& options) {
  Packing packing{.compress = options.request_compress_type,
                  .checksum = options.request_checksum_type};
  if (const auto* const own = controller.overrides(); own != nullptr) {
    packing.compress = own->compress_type.value_or(packing.compress);
    packing.checksum = own->checksum_type.value_or(packing.checksum);
  }
  return packing;
}

absl::StatusOr<Runtime*> RuntimeOf(const ChannelOptions& options) {
  return options.runtime != nullptr ? options.runtime : Runtime::Default();
}

absl::StatusOr<std::shared_ptr<TlsClientContext>> LoadTls(const RuntimeParts& parts,
                                                          const ChannelOptions& options) {
  if (options.tls == nullptr) return nullptr;
  if (parts.client_tls == nullptr) {
    return absl::FailedPreconditionError("tls: the transport of this runtime has none");
  }
  return parts.client_tls(*options.tls);
}

}  // namespace

absl::StatusOr<std::unique_ptr<Channel>> Channel::Create(absl::string_view target,
                                                         const ChannelOptions& options) {
  if (absl::Status status = options.Validate(); !status.ok()) return status;
  if (absl::Status status = Naming::Check(target); !status.ok()) return status;
  const absl::StatusOr<Runtime*> runtime = RuntimeOf(options);
  if (!runtime.ok()) return runtime.status();
  ChannelOptions complete = options;
  complete.use_rdma |= options.require_rdma;
  const RuntimeParts& parts = (*runtime)->parts();
  if (options.traffic_class == kTrafficClassOfRuntime) {
    complete.traffic_class = parts.traffic_class;
  }
  if (const ProcessMark& process = parts.loops->at(0).process(); !process.here()) {
    return process.NotHere();
  }
  auto tls = LoadTls(parts, options);
  if (!tls.ok()) return tls.status();
  const auto environment = std::make_shared<const Cluster::Environment>(
      Cluster::Environment{parts, complete, *std::move(tls)});
  std::vector<std::shared_ptr<Cluster>> clusters(
      std::min<size_t>(static_cast<size_t>(options.event_loops), parts.loops->size()));
  for (std::shared_ptr<Cluster>& cluster : clusters) {
    cluster = Cluster::Create(environment, parts.loops->Next(), target);
  }
  return std::unique_ptr<Channel>(new Channel(parts, complete, std::move(clusters)));
}

Channel::Channel(const RuntimeParts& parts, const ChannelOptions& options,
                 std::vector<std::shared_ptr<Cluster>> clusters)
    : parts_(parts), options_(options) {
  for (std::shared_ptr<Cluster>& cluster : clusters) {
    const auto calls = std::make_shared<ChannelCalls>();
    static_cast<CallEnvironment&>(*calls) = {parts.clock,           parts.pool,
                                             options.max_body_size, options.interceptors,
                                             parts.copied,          parts.log};
    calls->cluster = std::move(cluster);
    calls->plan = PlanOf(Controller::Overrides(), options);
    calls_.push_back(calls);
  }
}

Channel::~Channel() {
  // In a child of fork(2) the clusters keep themselves.
  if (!process().here()) return;
  for (const std::shared_ptr<ChannelCalls>& calls : calls_) {
    calls->cluster->loop().RunOrPost([cluster = calls->cluster] { cluster->Retire(); });
  }
}

const ProcessMark& Channel::process() const { return calls_.front()->cluster->loop().process(); }

void Channel::CallMethod(const google::protobuf::MethodDescriptor* method,
                         google::protobuf::RpcController* rpc_controller,
                         const google::protobuf::Message* request,
                         google::protobuf::Message* response, google::protobuf::Closure* done) {
  Check(rpc_controller != nullptr, "a call has a farcall::Controller, which tells how it ended");
  Controller& controller = static_cast<Controller&>(*rpc_controller);
  if (!process().here()) [[unlikely]] {
    controller.Begin(nullptr, 0);
    controller.End(kFailedSocket, process().NotHere().message(), 0);
    // No other thread is there to run it.
    if (done != nullptr) done->Run();
    return;
  }
  if (done == nullptr) {
    if (const absl::Status status = BeforeBlocking(); !status.ok()) {
      controller.Begin(nullptr, 0);
      controller.End(kLimit,
                     absl::StrCat("no thread could end a synchronous call: ", status.message()), 0);
      return;
    }
  }
  const std::shared_ptr<ChannelCalls>& calls = CallsOfThisThread();
  if (done == nullptr) {
    RoutedCall call(calls, *method, controller, response, nullptr);
    EventLoop& loop = calls->cluster->loop();
    Send(*calls, call, *method, controller, *request);
    call.Wait(loop);
  } else {
    Send(*calls, *calls->memory.New(calls, *method, controller, response, done), *method,
         controller, *request);
  }
}

const std::shared_ptr<ChannelCalls>& Channel::CallsOfThisThread() const {
  return calls_.size() == 1 ? calls_.front() : calls_[ThreadSlot() % calls_.size()];
}

void Channel::Send(ChannelCalls& calls, RoutedCall& call,
                   const google::protobuf::MethodDescriptor& method, Controller& controller,
                   const google::protobuf::Message& request) {
  Cluster& cluster = *calls.cluster;
  EventLoop& loop = cluster.loop();
  const uint64_t call_id = cluster.NextCallId();
  if (!controller.Begin(&cluster, call_id)) {
    return FailNow(loop, call, ECANCELED, "cancelled by the caller before it began");
  }
  if (!call.AskInterceptors(request)) {
    return FailNow(loop, call, controller.ErrorCode(), controller.ErrorText());
  }
  const int64_t timeout_ms = TimeoutOf(controller, options_);
  const TimePoint deadline =
      timeout_ms < 0 ? TimePoint::max() : call.started() + std::chrono::milliseconds(timeout_ms);
  controller.set_deadline(deadline);
  if (controller.overrides() == nullptr && options_.pooled_from_bytes == 0) [[likely]] {
    call.SetPlan(call_id, deadline, calls.plan);
  } else {
    call.SetPlan(call_id, deadline, PlanOf(call, controller, options_, calls.plan));
  }

  Buffer& attachment = controller.request_attachment();
  if (parts_.registrations != nullptr && options_.use_rdma && !attachment.empty()) {
    attachment = parts_.registrations->Adopt(std::move(attachment));
  }
  SendRequest(cluster, *parts_.pool, call, method, controller, request,
              PackingOf(controller, options_), timeout_ms);
}

}  // namespace farcall
