// SPDX-License-Identifier: Apache-2.0

#include "rpc/channel.h"

#include <algorithm>
#include <cerrno>
#include <utility>

#include "absl/strings/str_cat.h"
#include "google/protobuf/descriptor.h"
#include "rpc/call/client_call.h"
#include "rpc/cluster/target.h"
#include "rpc/runtime.h"
#include "rpc/session/client_session.h"
#include "rpc/session/send_frame.h"
#include "rpc/traffic_class.h"
#include "rpc/wire/frame.h"
#include "transport/loop/blocking.h"
#include "transport/loop/loop_group.h"

namespace farcall {
namespace {

// Below 0: no limit. At most 24 days, which is what the meta can say, and what can be added
// to the time now.
int64_t Timeout(const Controller& controller, const ChannelOptions& options) {
  const int64_t own = controller.timeout_ms();
  return std::min<int64_t>(own == Controller::kNotSet ? options.timeout_ms : own, INT32_MAX);
}

void SetText(const std::string& from, std::string& to) { to.assign(from.data(), from.size()); }

// A meta for each thread, so that its memory is used again.
wire::RpcMeta& RequestMeta(const google::protobuf::MethodDescriptor& method, uint64_t call_id,
                           const Controller& controller, int64_t timeout_ms) {
  thread_local wire::RpcMeta meta;
  meta.Clear();
  wire::RpcRequestMeta& request = *meta.mutable_request();
  SetText(method.service()->full_name(), *request.mutable_service_name());
  SetText(method.name(), *request.mutable_method_name());
  if (controller.log_id() != 0) request.set_log_id(controller.log_id());
  if (timeout_ms > 0) {
    request.set_timeout_ms(static_cast<int32_t>(timeout_ms));
  }
  meta.set_correlation_id(static_cast<int64_t>(call_id));
  return meta;
}

// Ends a call that never came to its session.
void FailNow(EventLoop& loop, ClientCall& call, int code, absl::string_view text) {
  call.Fail(code, text);
  loop.RunOrPost([&loop, &call] { call.Complete(loop); });
}

}  // namespace

absl::StatusOr<std::unique_ptr<Channel>> Channel::Create(absl::string_view target,
                                                         const ChannelOptions& options) {
  if (absl::Status status = options.Validate(); !status.ok()) return status;
  absl::StatusOr<Target> parsed = Target::Parse(target);
  if (!parsed.ok()) return parsed.status();
  Runtime* runtime = options.runtime;
  if (runtime == nullptr) {
    absl::StatusOr<Runtime*> usual = Runtime::Default();
    if (!usual.ok()) return usual.status();
    runtime = *usual;
  }
  ChannelOptions complete = options;
  complete.use_rdma |= options.require_rdma;
  const absl::StatusOr<int> traffic_class = TrafficClass(options.traffic_class);
  if (!traffic_class.ok()) return traffic_class.status();
  complete.traffic_class = *traffic_class;
  const RuntimeParts& parts = runtime->parts();
  auto session =
      std::make_shared<ClientSession>(parts, parts.loops->Next(), *std::move(parsed), complete);
  return std::unique_ptr<Channel>(new Channel(std::move(session), parts, complete));
}

Channel::Channel(std::shared_ptr<ClientSession> session, const RuntimeParts& parts,
                 const ChannelOptions& options)
    : session_(std::move(session)), parts_(parts), options_(options) {}

Channel::~Channel() {
  session_->loop().RunOrPost([session = session_] { session->Retire(); });
}

void Channel::CallMethod(const google::protobuf::MethodDescriptor* method,
                         google::protobuf::RpcController* rpc_controller,
                         const google::protobuf::Message* request,
                         google::protobuf::Message* response, google::protobuf::Closure* done) {
  Controller& controller = static_cast<Controller&>(*rpc_controller);
  if (done == nullptr && !BeforeBlocking()) {
    controller.Begin(nullptr, 0);
    controller.End(kLimit,
                   "too many synchronous calls wait inside closures and inline handlers "
                   "(RuntimeOptions::max_blocked_threads)",
                   0);
    return;
  }
  if (done == nullptr) {
    ClientCall call(controller, response, nullptr, *parts_.clock);
    Send(call, *method, controller, *request);
    call.Wait();
  } else {
    Send(*new ClientCall(controller, response, done, *parts_.clock), *method, controller, *request);
  }
}

void Channel::Send(ClientCall& call, const google::protobuf::MethodDescriptor& method,
                   Controller& controller, const google::protobuf::Message& request) {
  EventLoop& loop = session_->loop();
  const int64_t timeout_ms = Timeout(controller, options_);
  const TimePoint deadline =
      timeout_ms < 0 ? TimePoint::max() : call.started() + std::chrono::milliseconds(timeout_ms);
  const uint64_t call_id = session_->NextCallId();
  controller.set_deadline(deadline);
  if (!controller.Begin(session_, call_id)) {
    return FailNow(loop, call, ECANCELED, "cancelled by the caller before it began");
  }
  wire::RpcMeta& meta = RequestMeta(method, call_id, controller, timeout_ms);
  Buffer attachment = std::move(controller.request_attachment());
  const auto encoder = FrameEncoder::Create(meta, &request, attachment.size());
  if (!encoder.ok()) return FailNow(loop, call, kBadRequest, encoder.status().message());
  const bool sent = SendFrame(
      loop, *parts_.pool, *encoder, attachment,
      [session = session_, &call, call_id, deadline](absl::string_view head, Buffer body) {
        session->Start(call, call_id, deadline, head, std::move(body));
      });
  if (!sent) {
    FailNow(loop, call, kOvercrowded,
            "the block pool is at its limit (RuntimeOptions::pool.max_bytes)");
  }
}

}  // namespace farcall
