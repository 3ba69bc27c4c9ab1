// SPDX-License-Identifier: Apache-2.0

#include "rpc/runtime/send_request.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "rpc/errors.h"
#include "rpc/session/send_frame.h"
#include "rpc/session/thread_meta.h"
#include "rpc/wire/frame.h"
#include "rpc/wire/plain_meta.h"
#include "rpc/wire/rpc_meta.pb.h"

namespace farcall {
namespace {

void SetText(const std::string& from, std::string& to) { to.assign(from.data(), from.size()); }

// The meta of a request, but for its attachment, compression and checksum: this thread's one, so
// that its memory is used again; valid until the next call on this thread.
wire::RpcMeta& RequestMeta(const google::protobuf::MethodDescriptor& method, uint64_t call_id,
                           const Controller& controller, int64_t timeout_ms) {
  wire::RpcMeta& meta = ThreadMeta<MetaOf::kRequest>::Get();
  wire::RpcRequestMeta& request = *meta.mutable_request();
  SetText(method.service()->full_name(), *request.mutable_service_name());
  SetText(method.name(), *request.mutable_method_name());
  if (controller.log_id() != 0) request.set_log_id(controller.log_id());
  if (!controller.request_id().empty()) request.add_request_id(controller.request_id());
  if (timeout_ms > 0) request.set_timeout_ms(static_cast<int32_t>(timeout_ms));
  for (const UserFields::Field& field : controller.request_user_fields().all()) {
    wire::UserField& sent = *meta.add_user_fields();
    sent.set_key(field.first);
    sent.set_value(field.second);
  }
  meta.set_correlation_id(static_cast<int64_t>(call_id));
  return meta;
}

// The same where it has nothing unusual; else nothing. Names are the method's own.
std::optional<PlainMeta::Request> PlainRequestMeta(const google::protobuf::MethodDescriptor& method,
                                                   uint64_t call_id, const Controller& controller,
                                                   int64_t timeout_ms) {
  const std::string& service_name = method.service()->full_name();
  const std::string& method_name = method.name();
  if (service_name.size() + method_name.size() > PlainMeta::kMaxNames) return std::nullopt;
  if (controller.has_extras() &&
      (!controller.request_id().empty() || !controller.request_user_fields().empty())) {
    return std::nullopt;
  }
  return PlainMeta::Request{.service_name = service_name,
                            .method_name = method_name,
                            .log_id = controller.log_id(),
                            .timeout_ms = timeout_ms > 0 ? static_cast<int32_t>(timeout_ms) : 0,
                            .correlation_id = static_cast<int64_t>(call_id)};
}

// Both make the head of a frame, and put into `body` what follows it.
absl::StatusOr<FrameEncoder> EncodePlain(wire::RpcMeta& meta,
                                         const google::protobuf::Message& request,
                                         Controller& controller, Buffer& body) {
  body = std::move(controller.request_attachment());
  return FrameEncoder::Create(meta, &request, body.size());
}

absl::StatusOr<FrameEncoder> EncodePacked(wire::RpcMeta& meta,
                                          const google::protobuf::Message& request,
                                          const Packing& packing, BlockPool& pool,
                                          Controller& controller, Buffer& body) {
  Buffer attachment = std::move(controller.request_attachment());
  absl::StatusOr<Buffer> packed = Pack(request, packing, attachment, pool, meta);
  if (!packed.ok()) return packed.status();
  absl::StatusOr<FrameEncoder> encoder = FrameEncoder::Create(meta, *packed, attachment.size());
  body = *std::move(packed);
  body.Append(std::move(attachment));
  return encoder;
}

// With the cluster's loop held, now or later.
auto StartOn(Cluster& cluster, RoutedCall& call) {
  return [&cluster, &call](absl::string_view head, Buffer&& rest) {
    cluster.Start(call, head, std::move(rest));
  };
}

// `full`: what the error kResourceExhausted means to the call.
void SendEncoded(Cluster& cluster, BlockPool& pool, RoutedCall& call,
                 const absl::StatusOr<FrameEncoder>& encoder, Buffer& body, int full) {
  EventLoop& loop = cluster.loop();
  if (!encoder.ok()) {
    const int code = absl::IsResourceExhausted(encoder.status()) ? full : kBadRequest;
    return FailNow(loop, call, code, encoder.status().message());
  }
  if (!SendFrame(loop, pool, *encoder, call.memory(), body, StartOn(cluster, call))) {
    FailNow(loop, call, kOvercrowded, kNoBlocks);
  }
}

// Most calls: nothing about the meta is unusual, and the message travels as it is.
void SendPlain(Cluster& cluster, BlockPool& pool, RoutedCall& call, const PlainMeta::Request& plain,
               const google::protobuf::Message& request, Buffer& body) {
  const size_t size = request.ByteSizeLong();
  if (size <= kSmallMessage && body.size() <= INT32_MAX && request.IsInitialized()) [[likely]] {
    const size_t head = WriteSmallHead(plain, request, size, body.size(), call.memory());
    EventLoop& loop = cluster.loop();
    // Little was done since the call began, unless others had their turn.
    const bool fresh = body.empty() && !call.asked_interceptors();
    return DeliverFrame(loop, fresh ? call.started() : loop.clock().Now(), {call.memory(), head},
                        body, StartOn(cluster, call));
  }
  PlainMeta meta(plain);
  SendEncoded(cluster, pool, call, FrameEncoder::Create(meta, request, size, body.size()), body,
              kBadRequest);
}

}  // namespace

int64_t TimeoutOf(const Controller& controller, const ChannelOptions& options) {
  const int64_t own = controller.timeout_ms();
  return std::min<int64_t>(own == Controller::kNotSet ? options.timeout_ms : own, INT32_MAX);
}

void FailNow(EventLoop& loop, ClientCall& call, int code, absl::string_view text) {
  call.Fail(code, text);
  loop.RunOrPost([&loop, &call] { call.Complete(loop); });
}

void SendRequest(Cluster& cluster, BlockPool& pool, RoutedCall& call,
                 const google::protobuf::MethodDescriptor& method, Controller& controller,
                 const google::protobuf::Message& request, const Packing& packing,
                 int64_t timeout_ms) {
  Buffer body;
  if (packing.plain()) {
    const auto plain = PlainRequestMeta(method, call.id(), controller, timeout_ms);
    if (plain) [[likely]] {
      Buffer& attachment = controller.request_attachment();
      if (!attachment.empty()) body = std::move(attachment);
      return SendPlain(cluster, pool, call, *plain, request, body);
    }
  }
  wire::RpcMeta& meta = RequestMeta(method, call.id(), controller, timeout_ms);
  const absl::StatusOr<FrameEncoder> encoder =
      packing.plain() ? EncodePlain(meta, request, controller, body)
                      : EncodePacked(meta, request, packing, pool, controller, body);
  SendEncoded(cluster, pool, call, encoder, body, packing.plain() ? kBadRequest : kOvercrowded);
}

}  // namespace farcall
