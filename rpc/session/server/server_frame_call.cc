// SPDX-License-Identifier: Apache-2.0

#include "rpc/session/server/server_frame_call.h"

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "rpc/session/send_frame.h"
#include "rpc/session/server/answer_meta.h"
#include "rpc/session/server/server_session.h"
#include "rpc/wire/payload.h"
#include "rpc/wire/plain_meta.h"
#include "transport/base/check.h"
#include "transport/base/threads/chunk_pool.h"
#include "transport/buffer/registration_cache.h"

namespace farcall {
namespace {

// Bytes of response_user_fields: they travel in the meta, which peers limit.
constexpr size_t kMaxUserFieldBytes = size_t{256} << 10;

// More fields cost too much on a loop, where each is looked for among the others.
constexpr int kMaxUserFields = 256;
// Bytes of those of a request, which are copied to the heap, and of its id.
constexpr size_t kMaxRequestFieldBytes = size_t{64} << 10;
constexpr size_t kMaxRequestId = 256;

// The field means something else with some peers (rpc_meta.proto): then it is no text.
bool IsPlainText(const std::string& text) {
  return text.size() <= kMaxRequestId && std::none_of(text.begin(), text.end(), [](char c) {
           return static_cast<unsigned char>(c) < 0x20 || c == 0x7f;
         });
}

size_t FieldBytes(const wire::RpcMeta& meta) {
  size_t bytes = 0;
  for (const wire::UserField& field : meta.user_fields()) {
    bytes += field.key().size() + field.value().size();
  }
  return bytes;
}

// What it has too much of; empty: nothing.
std::string TooMuch(const wire::RpcMeta& meta) {
  if (meta.user_fields_size() > kMaxUserFields) {
    return absl::StrCat("it has ", meta.user_fields_size(), " user_fields, over the limit, ",
                        kMaxUserFields);
  }
  const size_t bytes = FieldBytes(meta);
  if (bytes <= kMaxRequestFieldBytes) return {};
  return absl::StrCat("its user_fields have ", bytes, " bytes, over the limit, ",
                      kMaxRequestFieldBytes);
}

// With the session's loop held, now or later.
auto Responding(ServerCall& call, ServerSession& session) {
  return [&call, &session](absl::string_view head, Buffer&& rest) {
    session.Respond(call, head, std::move(rest));
  };
}

absl::Status PutFields(const UserFields& fields, wire::RpcMeta& meta) {
  if (fields.all().size() > kMaxUserFields) {
    return absl::ResourceExhaustedError(
        absl::StrCat("response_user_fields are more than ", kMaxUserFields));
  }
  size_t bytes = 0;
  for (const UserFields::Field& field : fields.all()) {
    bytes += field.first.size() + field.second.size();
    if (bytes > kMaxUserFieldBytes) {
      return absl::ResourceExhaustedError(
          absl::StrCat("response_user_fields have more than ", kMaxUserFieldBytes, " bytes"));
    }
    wire::UserField& put = *meta.add_user_fields();
    put.set_key(field.first);
    put.set_value(field.second);
  }
  return absl::OkStatus();
}

}  // namespace

ServerFrameCall::ServerFrameCall(ServerSession& session, const Admission& admission, Frame& frame)
    : ServerCall(session, admission), correlation_id_(frame.meta.correlation_id()) {
  TakePayload(frame);
  controller().set_log_id(frame.meta.request().log_id());
  if (!frame.plain) [[unlikely]]
    TakeFields(frame.meta);
  const int32_t timeout_ms = frame.meta.request().timeout_ms();
  if (timeout_ms > 0) {
    controller().set_deadline(session.loop().now() + std::chrono::milliseconds(timeout_ms));
  }
}

// What is small is copied: that costs less than to share its block with another thread, and leaves
// the block to what comes next. A placer may ask for it again.
void ServerFrameCall::TakePayload(Frame& frame) {
  const bool plain = frame.plain ? frame.meta.compress_type() == COMPRESS_TYPE_NONE
                                 : PayloadInfo::Of(frame.meta).plain();
  if (frame.held && plain && found().state->placer == nullptr) [[likely]] {
    std::memcpy(memory_, frame.in_place.data(), frame.in_place.size());
    small_payload_ = frame.in_place.size();
  } else {
    other_.Get().payload_info = PayloadInfo::Of(frame.meta);
    other_.Get().payload = frame.TakePayload();
  }
  if (!frame.attachment.empty()) controller().request_attachment() = std::move(frame.attachment);
}

// What few requests have.
void ServerFrameCall::TakeFields(const wire::RpcMeta& meta) {
  if (std::string too_much = TooMuch(meta); !too_much.empty()) {
    other_.Get().too_much = std::move(too_much);
    return;
  }
  const wire::RpcRequestMeta& request = meta.request();
  if (request.request_id_size() == 1 && IsPlainText(request.request_id(0))) {
    controller().set_request_id(request.request_id(0));
  }
  for (const wire::UserField& field : meta.user_fields()) {
    controller().request_user_fields().Set(field.key(), field.value());
  }
}

void ServerFrameCall::Dispose() {
  const std::shared_ptr<ServerSession> kept = TakeSession();
  kept->core()->frame_calls->Delete(this);
}

absl::Status ServerFrameCall::ParseRequest(google::protobuf::Message& request) {
  if (small_payload_ && !other_.made()) [[likely]] {
    set_request_bytes(*small_payload_);
    if (TryParsePayload({memory_, *small_payload_}, request)) return absl::OkStatus();
  }
  return ParseOther(request);
}

// What is not small, or says why it cannot be parsed.
absl::Status ServerFrameCall::ParseOther(google::protobuf::Message& request) {
  Other& other = other_.Get();
  if (!other.too_much.empty()) return absl::InvalidArgumentError(other.too_much);
  if (small_payload_) return ParsePayload(absl::string_view(memory_, *small_payload_), request);
  const absl::Status status =
      Unpack(other.payload_info, other.payload, controller().request_attachment(),
             core().options.max_body_size, session()->pool(), request);
  other.payload.Clear();
  // With its checksum verified where it came, so that what is copied is sound.
  if (status.ok() && placing_ != nullptr) Gather();
  return status;
}

// In kind, unless the handler said otherwise.
Packing ServerFrameCall::ResponsePacking() const {
  Packing packing;
  if (const Other* const other = other_.IfMade(); other != nullptr) {
    packing = {.compress = static_cast<CompressType>(other->payload_info.compress_type),
               .checksum = static_cast<ChecksumType>(other->payload_info.checksum_type)};
  }
  if (!controller().has_extras()) return packing;
  packing.compress = controller().response_compress_type().value_or(packing.compress);
  packing.checksum = controller().response_checksum_type().value_or(packing.checksum);
  return packing;
}

const UserFields& ServerFrameCall::ResponseFields() const {
  return controller().response_user_fields();
}

// Most answers: false if this one is not of them, and nothing was done.
bool ServerFrameCall::SendSmall(const google::protobuf::Message* response) {
  if (response == nullptr || !controller().response_attachment().empty()) return false;
  if (!ResponsePacking().plain()) return false;
  if (controller().has_extras() && !ResponseFields().empty()) return false;
  const size_t size = MeasureResponse(*response);
  if (size > kSmallMessage || !response->IsInitialized()) return false;
  const size_t head = WriteSmallHead({correlation_id_}, *response, size, 0, memory_);
  Ref();  // for the delivery, which unlists the call
  const TimePoint now = Count(0);
  Buffer none;
  DeliverFrame(session()->loop(), now, {memory_, head}, none, Responding(*this, *session()),
               MoreWait());
  return true;
}

void ServerFrameCall::SendAnswer(const google::protobuf::Message* response) {
  if (!SendSmall(response)) [[unlikely]]
    SendOther(response);
}

void ServerFrameCall::SendOther(const google::protobuf::Message* response) {
  absl::Status why;
  int code = kBadResponse;
  if (TrySend(response, why, code)) return;
  wire::RpcMeta& error = AnswerMeta(correlation_id_, code, why.message());
  Buffer none;
  const auto encoder = FrameEncoder::Create(error, nullptr, 0);
  Check(encoder.ok() && Deliver(*encoder, none, code),
        "an error without a message fits a small frame");
}

// False: nothing was sent, for this reason.
bool ServerFrameCall::TrySend(const google::protobuf::Message* response, absl::Status& why,
                              int& code) {
  const Packing packing = ResponsePacking();
  const UserFields& fields = ResponseFields();
  if (response != nullptr && packing.plain() && fields.empty()) {
    Buffer attachment;
    if (!controller().response_attachment().empty()) attachment = TakeAttachment();
    PlainMeta meta(PlainMeta::Answer{correlation_id_});
    const size_t size = MeasureResponse(*response);
    const auto encoder = FrameEncoder::Create(meta, *response, size, attachment.size());
    return Deliver(encoder, attachment, 0, why, code);
  }
  const int own_code = controller().ErrorCode();
  wire::RpcMeta& meta = AnswerMeta(correlation_id_, own_code, controller().ErrorText());
  if (why = PutFields(fields, meta); !why.ok()) return false;
  Buffer attachment;
  if (response != nullptr) attachment = TakeAttachment();
  if (response == nullptr || packing.plain()) {
    const auto encoder = FrameEncoder::Create(meta, response, attachment.size());
    return Deliver(encoder, attachment, own_code, why, code);
  }
  auto payload = Pack(*response, packing, attachment, session()->pool(), meta);
  if (!payload.ok()) {
    why = payload.status();
    if (absl::IsResourceExhausted(why)) code = kOvercrowded;
    return false;
  }
  const auto encoder = FrameEncoder::Create(meta, *payload, attachment.size());
  payload->Append(std::move(attachment));
  return Deliver(encoder, *payload, own_code, why, code);
}

Buffer ServerFrameCall::TakeAttachment() {
  Buffer attachment = std::move(controller().response_attachment());
  RegistrationCache* const registrations = core().parts.registrations;
  if (registrations == nullptr || !core().options.use_rdma) return attachment;
  return registrations->Adopt(std::move(attachment));
}

// False: it cannot be sent, and `why`, with this code, is to be.
bool ServerFrameCall::Deliver(const absl::StatusOr<FrameEncoder>& encoder, Buffer& body, int code,
                              absl::Status& why, int& why_code) {
  if (encoder.ok() && Deliver(*encoder, body, code)) return true;
  why = encoder.status();
  if (!why.ok()) return false;
  why_code = kOvercrowded;
  why = absl::ResourceExhaustedError("no blocks for the response (RuntimeOptions::pool.max_bytes)");
  return false;
}

// False: there is no memory, and nothing was counted.
bool ServerFrameCall::Deliver(const FrameEncoder& encoder, Buffer& body, int code) {
  Ref();  // for the delivery, which unlists the call
  const auto count = [this, code] { Count(code); };
  if (SendFrame(session()->loop(), session()->pool(), encoder, memory_, body,
                Responding(*this, *session()), count)) {
    return true;
  }
  Unref();
  return false;
}

}  // namespace farcall
