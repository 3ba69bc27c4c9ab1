// SPDX-License-Identifier: Apache-2.0
//
// What a ClientSession does with the bytes that come.

#include <utility>

#include "absl/strings/str_cat.h"
#include "rpc/errors.h"
#include "rpc/session/client_session.h"

namespace farcall {
namespace {

// An answer to nobody, with which a server closes a connection (docs/wire.md).
bool IsFarewell(const wire::RpcMeta& meta) {
  return meta.correlation_id() == 0 && meta.response().error_code() == kLogoff;
}

}  // namespace

size_t ClientSession::OnRead(Buffer& input) {
  const FrameLimits limits{.max_body_size = environment_->options.max_body_size};
  for (;;) {
    const absl::StatusOr<size_t> need = CutFrame(input, limits, frame_);
    if (!need.ok()) {
      NoteWhoseAnswerBegan(input, 0);
      const absl::Status why(need.status().code(), absl::StrCat("bad answer from ", target_.text,
                                                                ": ", need.status().message()));
      closing_ = true;
      connection_->Close(why, CloseMode::kAbort);
      FailSent(why);
      return 0;
    }
    if (*need != 0) {
      NoteWhoseAnswerBegan(input, *need);
      const size_t await = landing_.Await(input.size(), *need);
      LetGoIfDone();
      return await;
    }
    begun_.reset();
    landing_.Clear();
    PendingCall* const call = calls_.Take(static_cast<uint64_t>(frame_.meta.correlation_id()));
    if (call == nullptr) {
      OnAnswerToNobody();
      // Whoever waits now waits for the next connection.
      if (closing_) return 0;
    } else {
      static_cast<SessionCall*>(call)->OnAnswer(frame_, info_.Of(*connection_));
    }
    // What nobody took is let go of now, not when the next answer comes.
    frame_.payload.Clear();
    frame_.attachment.Clear();
  }
}

// However large it says that it is: what is refused for its size has begun, too. Such a one
// does not land: `frame_size` 0.
void ClientSession::NoteWhoseAnswerBegan(const Buffer& input, size_t frame_size) {
  if (begun_.has_value() || input.size() <= kFrameHeaderSize) return;
  const auto need = PeekMeta(input, {.max_body_size = UINT32_MAX}, frame_);
  if (!need.ok() || *need != 0) return;
  begun_ = static_cast<uint64_t>(frame_.meta.correlation_id());
  if (frame_size > 0) NoteLanding(frame_size);
}

// What the peer says wrongly of its size is found out when the frame is cut.
void ClientSession::NoteLanding(size_t frame_size) {
  const int64_t size = frame_.meta.attachment_size();
  const size_t rest = frame_size - kFrameHeaderSize - frame_.meta_size;
  if (size <= 0 || static_cast<uint64_t>(size) > rest) return;
  if (frame_.meta.response().error_code() != 0) return;
  const auto attachment = static_cast<size_t>(size);
  SessionCall* const call = Begun();
  if (call == nullptr || call->Landing(attachment, 0, attachment).empty()) return;
  landing_.Set(frame_size, attachment);
}

// Each time anew of the call, which may have ended meanwhile: its memory is its owner's then.
Buffer ClientSession::Landing(size_t ahead, size_t bytes) {
  const LandingSpot::Part part = landing_.Next(ahead, bytes);
  SessionCall* const call = part.bytes > 0 ? Begun() : nullptr;
  return call != nullptr ? call->Landing(landing_.attachment(), part.offset, part.bytes) : Buffer();
}

// With this session, by which the runtime waits for it: the call ends after it.
std::shared_ptr<void> ClientSession::HoldLanding() {
  struct Held {
    std::shared_ptr<ClientSession> session;
    std::shared_ptr<void> place;  // dropped first
  };
  SessionCall* const call = Begun();
  if (call == nullptr) return nullptr;
  auto place = call->HoldLanding();
  if (place == nullptr) return nullptr;
  return std::make_shared<Held>(Held{shared_from_this(), std::move(place)});
}

// Late, or never asked for; or the farewell of a server that closes this connection: it has
// answered all that it took, and looked at nothing beyond.
void ClientSession::OnAnswerToNobody() {
  if (!IsFarewell(frame_.meta)) return;
  // A copy: calls that end may bring others, and with them other frames.
  const absl::Status why = absl::UnavailableError(frame_.meta.response().error_text());
  closing_ = true;
  connection_->Close(why, CloseMode::kAbort);
  // A server may close what is idle.
  if (observer_ != nullptr && !calls_.empty()) observer_->OnUnreachable(why);
  FailAll(kLogoff, why.message(), /*may_have_run=*/false);
}

}  // namespace farcall
