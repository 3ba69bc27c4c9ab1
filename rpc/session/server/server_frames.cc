// SPDX-License-Identifier: Apache-2.0

#include "rpc/session/server/server_frames.h"

#include <string>
#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "google/protobuf/descriptor.h"
#include "rpc/session/server/answer_meta.h"
#include "rpc/session/server/server_frame_call.h"
#include "rpc/session/server/server_session.h"
#include "transport/base/check.h"
#include "transport/base/threads/chunk_pool.h"

namespace farcall {
namespace {

// Bytes on the wire; ordinary metas keep their memory.
constexpr size_t kKeptMetaSize = 4096;

// Bytes of the meta of who has not shown a credential yet: a large one, and the user fields that a
// request may have.
constexpr size_t kMaxUnauthenticatedMetaSize = size_t{128} << 10;

// A peer's text in a message: printable, and cut to what is worth showing.
std::string Shown(absl::string_view text) { return absl::CHexEscape(text.substr(0, 200)); }

}  // namespace

ServerFrames::ServerFrames(ServerSession& session)
    : session_(session),
      limits_{.max_body_size = session.core()->options.max_body_size},
      asks_(session.core()->services.has_placer()),
      front_(session) {}

int ServerFrames::max_calls() const {
  return session_.core()->options.max_concurrency_per_connection;
}

absl::StatusOr<size_t> ServerFrames::OnRead(Buffer& input) {
  // What is over the limit of calls stays in `input` until reading goes on.
  while (session_.MayTake()) {
    if (!oversized_.Skip(input)) return 0;
    if (session_.authenticated() && CutOrdinaryFrame(input, limits_, frame_, /*in_place=*/true))
        [[likely]] {
      OnFrame();
      frame_.held = BlockRef();
      continue;
    }
    const absl::StatusOr<size_t> need =
        session_.authenticated() ? TakeRequest(input) : LookAtUnauthenticated(input);
    if (!need.ok() || *need != 0) return need;
    // Parsed, a meta may take 30 times its size: not until the peer says something again.
    if (frame_.meta_size > kKeptMetaSize) frame_ = Frame();
  }
  return 0;
}

// Looks at the credential of the first request as soon as its meta has come, so that nothing else
// is kept for a peer that is not authenticated. 0: it is now, or the connection closes.
absl::StatusOr<size_t> ServerFrames::LookAtUnauthenticated(const Buffer& input) {
  // However large the body is: the credential comes first.
  constexpr FrameLimits limits{.max_body_size = UINT32_MAX,
                               .max_meta_size = kMaxUnauthenticatedMetaSize};
  const absl::StatusOr<size_t> peeked = PeekMeta(input, limits, frame_);
  if (!peeked.ok() || *peeked != 0) return peeked;
  const Refusal refusal = session_.Authenticate(frame_.meta.authentication_data());
  if (refusal.code == 0) return 0;
  Refuse(refusal.code, refusal.text);
  session_.Close(absl::PermissionDeniedError(
      absl::StrCat("the credential of its first request is refused: ", refusal.text)));
  return 0;
}

// 0: one was taken, and answered or submitted.
absl::StatusOr<size_t> ServerFrames::TakeRequest(Buffer& input) {
  const absl::StatusOr<size_t> cut = CutAnyFrame(input, limits_, frame_);
  if (!cut.ok() && absl::IsResourceExhausted(cut.status())) return OnOversized(input);
  if (!cut.ok()) return cut;
  if (*cut != 0) return asks_ ? AwaitRequest(input, *cut) : *cut;
  OnFrame();
  return 0;
}

// It was cut off.
void ServerFrames::OnFrame() {
  session_.Took();
  placed_.reset();
  if (ServerFrameCall* const call = front_.call(); call != nullptr) {
    call->Complete(frame_);
    front_.Clear();
  } else {
    OnRequest();
  }
}

// The frame at the front has `frame_size` bytes, and not all of them are there: how many are worth
// to be waited for, or 0, where nothing of it is wanted.
absl::StatusOr<size_t> ServerFrames::AwaitRequest(const Buffer& input, size_t frame_size) {
  if (input.size() < kFrameHeaderSize) return frame_size;
  if (!placed_) {
    const absl::StatusOr<size_t> peeked = PeekMeta(input, limits_, frame_);
    if (!peeked.ok() || *peeked != 0) return peeked;
    last_ = {};  // not of the meta that was read last, any more
    placed_ = PlacedSize(frame_size);
  }
  if (*placed_ == 0) return frame_size;
  if (front_.call() == nullptr) {
    // The message first: a place is said by all of the head.
    if (input.size() < frame_size - *placed_) return frame_size - *placed_;
    if (!BeginRequest(input, frame_size, *placed_)) return DropRequest(frame_size);
  }
  if (front_.call()->given_up()) return DropRequest(frame_size);
  return front_.Await(input.size());
}

// Of its attachment, if that has a place of its own; 0: it has none. What the peer says wrongly of
// sizes is found out when the frame is cut.
size_t ServerFrames::PlacedSize(size_t frame_size) {
  const int64_t size = frame_.meta.attachment_size();
  const size_t rest = frame_size - kFrameHeaderSize - frame_.meta_size;
  if (!frame_.meta.has_request() || size <= 0 || static_cast<uint64_t>(size) > rest) return 0;
  const ServiceMap::Found& found = Find(frame_.meta.request());
  const bool asks = found.method != nullptr && found.state->placer != nullptr;
  return asks ? static_cast<size_t>(size) : 0;
}

// All but its attachment is there. False: it was refused, and answered.
bool ServerFrames::BeginRequest(const Buffer& input, size_t frame_size, size_t attachment) {
  ServerCall::Admission admission;
  if (const Refusal refusal = session_.Admit(last_, admission); refusal.code != 0) {
    Refuse(refusal.code, refusal.text);
    return false;
  }
  const size_t head = kFrameHeaderSize + frame_.meta_size;
  Buffer message = input.Share();
  message.RemoveFront(head);
  frame_.payload = message.CutFront(frame_size - attachment - head);
  frame_.attachment.Clear();
  ServerFrameCall& call = *session_.core()->frame_calls->New(session_, admission, frame_);
  session_.Expect(call);
  call.Ref();
  call.AskForPlace(attachment);
  front_.Set(call, frame_size, attachment);
  return true;
}

// Nothing of the frame at the front is wanted, nor of what still comes of it.
size_t ServerFrames::DropRequest(size_t frame_size) {
  session_.Took();
  placed_.reset();
  front_.Clear();
  oversized_.Drop(frame_size);
  return 0;
}

std::shared_ptr<void> ServerFrames::HoldPlace() {
  return front_.call() != nullptr ? front_.call()->HoldPlace() : nullptr;
}

bool ServerFrames::AwaitsPlace() const {
  return front_.call() != nullptr && front_.call()->awaits_place();
}

absl::StatusOr<size_t> ServerFrames::OnOversized(const Buffer& input) {
  const absl::StatusOr<size_t> met = oversized_.Meet(input, limits_, frame_);
  last_ = {};  // not of the meta that was read last, any more
  if (!met.ok() || *met != 0) return met;
  session_.Took();
  const std::string text =
      absl::StrCat("a request of ", frame_.body_size, " bytes is over max_body_size, ",
                   limits_.max_body_size, ": send less at once, or raise the limit of the server");
  RefuseOversized(text);
  if (!oversized_.worth_skipping()) return absl::ResourceExhaustedError(text);
  session_.Log(absl::StrCat("goes on: ", text));
  return 0;
}

// The other requests of the connection must not fail with it.
void ServerFrames::RefuseOversized(absl::string_view text) {
  ServerCore& core = *session_.core();
  const wire::RpcRequestMeta& request = frame_.meta.request();
  session_.CountRefused(core.services.Find(request.service_name(), request.method_name()),
                        kBadRequest);
  wire::RpcMeta& answer = AnswerMeta(frame_.meta.correlation_id(), kBadRequest, text);
  answer.mutable_response()->set_max_body_size(limits_.max_body_size);
  Send(answer);
}

void ServerFrames::OnRequest() {
  const wire::RpcMeta& meta = frame_.meta;
  if (!meta.has_request()) return Refuse(kBadRequest, "the meta has no request");
  const wire::RpcRequestMeta& request = meta.request();
  const ServiceMap::Found& found = Find(request);
  if (found.method == nullptr) return RefuseUnknown(request, found);
  ServerCall::Admission admission;
  if (const Refusal refusal = session_.Admit(found, admission); refusal.code != 0) {
    return Refuse(refusal.code, refusal.text);
  }
  const size_t attachment = frame_.attachment.size();
  ServerFrameCall& call = *session_.core()->frame_calls->New(session_, admission, frame_);
  if (found.state->placer == nullptr || attachment == 0) return session_.Submit(call);
  session_.Expect(call);
  call.Ref();
  call.AskForPlace(attachment);
  call.Complete();
  call.Unref();
}

void ServerFrames::RefuseUnknown(const wire::RpcRequestMeta& request,
                                 const ServiceMap::Found& found) {
  session_.core()->counters.not_found.fetch_add(1, std::memory_order_relaxed);
  if (found.service == nullptr) {
    return Refuse(kNoService,
                  absl::StrCat("no service \"", Shown(request.service_name()), "\" here"));
  }
  Refuse(kNoMethod, absl::StrCat("service ", found.service->GetDescriptor()->full_name(),
                                 " has no method \"", Shown(request.method_name()), "\""));
}

// Most are for the same method as the one before.
const ServiceMap::Found& ServerFrames::Find(const wire::RpcRequestMeta& request) {
  if (last_.method == nullptr || !frame_.reader.same()) {
    last_ = session_.core()->services.Find(request.service_name(), request.method_name());
  }
  return last_;
}

// An answer without a call.
void ServerFrames::Refuse(int code, absl::string_view text) {
  Send(AnswerMeta(frame_.meta.correlation_id(), code, text));
}

void ServerFrames::Send(wire::RpcMeta& answer) {
  const auto encoder = FrameEncoder::Create(answer, nullptr, 0);
  Check(encoder.ok(), "an error without a message can be encoded");
  std::string head(encoder->head_size(), '\0');
  encoder->WriteTo(head.data());
  session_.Write(head, Buffer());
}

// An answer to no call: clients do not begin at 0 (docs/wire.md).
void ServerFrames::SendGoAway() {
  frame_.meta.clear_correlation_id();
  Refuse(kLogoff, "the server closes this connection: what it has not answered was not run");
}

}  // namespace farcall
