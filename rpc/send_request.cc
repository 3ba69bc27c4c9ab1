// SPDX-License-Identifier: Apache-2.0

#include "rpc/send_request.h"

#include <optional>
#include <utility>

#include "rpc/errors.h"
#include "rpc/request_meta.h"
#include "rpc/session/send_frame.h"
#include "rpc/wire/frame.h"
#include "rpc/wire/plain_meta.h"

namespace farcall {
namespace {

constexpr char kNoBlocks[] = "the block pool is at its limit (RuntimeOptions::pool.max_bytes)";

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
