// SPDX-License-Identifier: Apache-2.0
//
// The part of a ServerFrameCall that brings its attachment to where the service wants it.

#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "google/protobuf/descriptor.h"
#include "rpc/errors.h"
#include "rpc/exception_text.h"
#include "rpc/interceptor.h"
#include "rpc/session/server/server_frame_call.h"
#include "rpc/session/server/server_session.h"
#include "transport/copy_tally.h"

namespace farcall {

// Of one call, which has a reference as long as it is asked.
class ServerFrameCall::PendingReply final : public PendingPlacement {
 public:
  PendingReply(ServerFrameCall& call, EventLoop& loop) : call_(call), loop_(loop) {}

  // The placer answers: on any thread, perhaps when the call is gone.
  void Take(Placement answer) {
    switch (Answer(answer)) {
      case Verdict::kKept:
        return;
      case Verdict::kDeliver:
        return loop_.Post([&call = call_, came = std::move(answer)]() mutable {
          call.OnPlacement(std::move(came));
          call.session()->SetBusy(false);
          call.Unref();
        });
      case Verdict::kLate:
        answer.memory.Clear();
        if (!answer.ended) return;
        answer.ended(absl::CancelledError("the request was over before its place was said"));
    }
  }

 private:
  ServerFrameCall& call_;
  EventLoop& loop_;
};

void ServerFrameCall::AskForPlace(size_t attachment) {
  placing_ = std::make_unique<Placing>(attachment);
  if (!MayBeAsked(attachment)) return;
  std::unique_ptr<CallMessages> messages;
  bool wants_message = false;
  const std::optional<std::string> thrown =
      ExceptionTextOf([&] { wants_message = found().state->placer->WantsMessage(method()); });
  if (thrown) return GiveUp(kInternal, absl::StrCat("the attachment placer threw: ", *thrown));
  if (wants_message) {
    const absl::Status parsed = ParseForPlacer(messages);
    if (!parsed.ok()) {
      const bool full = absl::IsResourceExhausted(parsed);
      return GiveUp(full ? kOvercrowded : kBadRequest,
                    absl::StrCat(full ? "the request cannot be unpacked now: "
                                      : "the request does not parse: ",
                                 absl::string_view(parsed.message())));
    }
  }
  AskPlacer(attachment, messages != nullptr ? messages->request.get() : nullptr);
  if (messages != nullptr) found().state->messages.Give(std::move(messages));
}

// Whether it is a request that a handler may see. If not, it was given up.
bool ServerFrameCall::MayBeAsked(size_t attachment) {
  if (const std::string& too_much = other_.Get().too_much; !too_much.empty()) {
    GiveUp(kBadRequest, too_much);
    return false;
  }
  for (const auto& interceptor : core().options.interceptors) {
    bool go_on = false;
    const std::optional<std::string> thrown = ExceptionTextOf(
        [&] { go_on = interceptor->OnIncoming(method(), controller(), attachment); });
    if (go_on) continue;
    GiveUp(kInternal, thrown ? absl::StrCat("exception: ", *thrown)
                             : "an interceptor refused the request and did not say why");
    return false;
  }
  return true;
}

// Null: it is larger than what is parsed with a loop held.
absl::Status ServerFrameCall::ParseForPlacer(std::unique_ptr<CallMessages>& messages) {
  if (other_.Get().payload.size() > IncomingRequest::kMaxMessage) return absl::OkStatus();
  PayloadInfo info = other_.Get().payload_info;
  if (info.checksum_with_attachment) info.checksum_type = CHECKSUM_TYPE_NONE;
  messages = TakeMessages();
  const absl::Status parsed =
      Unpack(info, other_.Get().payload, Buffer(), IncomingRequest::kMaxMessage, session()->pool(),
             *messages->request);
  if (!absl::IsOutOfRange(parsed)) return parsed;
  found().state->messages.Give(std::move(messages));
  return absl::OkStatus();
}

void ServerFrameCall::AskPlacer(size_t attachment, const google::protobuf::Message* message) {
  const auto pending = std::make_shared<PendingReply>(*this, session()->loop());
  Ref();  // the pending's
  const IncomingRequest request{method(), other_.Get().payload.size(), attachment, controller(),
                                message};
  const std::optional<std::string> thrown = ExceptionTextOf([&] {
    found().state->placer->Place(
        request, PlaceReply([pending](Placement answer) { pending->Take(std::move(answer)); }));
  });
  std::optional<Placement> answer = pending->TakeIfAnswered();
  if (!answer) placing_->pending = pending;
  if (answer && thrown) answer->refused = 0;
  if (answer) OnPlacement(*std::move(answer));
  if (thrown) GiveUp(kInternal, absl::StrCat("the attachment placer threw: ", *thrown));
  if (answer) Unref();
}

void ServerFrameCall::OnPlacement(Placement placement) {
  RequestPlace& place = placing_->place;
  placing_->pending = nullptr;
  placing_->ended = std::move(placement.ended);
  const size_t room = placement.memory.size();
  if (room > 0 && room < place.attachment()) {
    placement.memory.Clear();
    placement.refused = kInternal;
    placement.text =
        absl::StrCat("the attachment has ", place.attachment(), " bytes, and the memory that ",
                     method().service()->full_name(), " has for it only ", room);
    core().parts.log(LogSeverity::kError, placement.text);
  }
  place.Answer(std::move(placement.memory));
  if (placement.refused != 0) GiveUp(placement.refused, placement.text);
  // Also where the request was given up while this was on its way.
  RunIfDue();
}

void ServerFrameCall::Complete() {
  placing_->place.Came();
  RunIfDue();
}

void ServerFrameCall::Complete(Frame& frame) {
  if (!given_up()) {
    other_.Get().payload = frame.TakePayload();
    controller().request_attachment() = std::move(frame.attachment);
  }
  Complete();
}

void ServerFrameCall::GiveUp(int code, absl::string_view text) {
  if (placing_ == nullptr || placing_->place.due() || given_up()) return;
  // An interceptor may have said it already.
  if (!controller().Failed()) controller().SetFailed(code, text);
  placing_->why = controller().status();
  const std::shared_ptr<PendingPlacement> pending = placing_->pending;
  const bool withdrawn = pending == nullptr || pending->Withdraw();
  placing_->place.Fail(/*answer_comes=*/!withdrawn);
  if (pending != nullptr && withdrawn) {
    placing_->pending = nullptr;
    session()->SetBusy(false);
    RunIfDue();
    return Unref();
  }
  RunIfDue();
}

bool ServerFrameCall::given_up() const { return placing_->place.failed(); }
bool ServerFrameCall::awaits_place() const { return placing_->place.asked(); }

Buffer ServerFrameCall::PlaceFor(size_t offset, size_t bytes) {
  return placing_->place.Lend(offset, bytes);
}

std::shared_ptr<void> ServerFrameCall::HoldPlace() {
  placing_->place.Hold();
  Ref();
  return {this, [](ServerFrameCall* call) { call->OnPlaceDropped(); }};
}

void ServerFrameCall::OnPlaceDropped() {
  placing_->place.Drop();
  RunIfDue();
  Unref();
}

size_t ServerFrameCall::Lying(const Buffer& input, size_t head) const {
  return placing_->place.Lying(input, head);
}

void ServerFrameCall::RunIfDue() {
  if (placing_->place.TakeDue()) session()->Run(*this);
}

void ServerFrameCall::Gather() {
  uint64_t copied = 0;
  Buffer& attachment = controller().request_attachment();
  attachment = placing_->place.Gather(std::move(attachment), copied);
  if (copied > 0 && core().parts.copied != nullptr) {
    core().parts.copied->Add(CopyCause::kNotLanded, copied);
  }
}

void ServerFrameCall::GiveMemoryBack(const absl::Status& how) {
  if (placing_ == nullptr) return;
  RequestPlace& place = placing_->place;
  if (!how.ok()) controller().request_attachment().Clear();
  place.Clear();
  PlaceReply::Ended ended = std::exchange(placing_->ended, nullptr);
  if (!ended) return;
  const std::optional<std::string> thrown =
      ExceptionTextOf([&] { ended(place.failed() ? placing_->why : how); });
  if (!thrown) return;
  core().parts.log(LogSeverity::kError,
                   absl::StrCat("what a placer of ", method().service()->full_name(),
                                " is notified of the end with threw: ", *thrown));
}

}  // namespace farcall
