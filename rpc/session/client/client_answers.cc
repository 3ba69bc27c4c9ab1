// SPDX-License-Identifier: Apache-2.0
//
// What a ClientSession does with the bytes that come.

#include <algorithm>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "rpc/errors.h"
#include "rpc/session/client/client_session.h"

namespace farcall {
namespace {

// An answer to no call, with which a server closes a connection (docs/wire.md).
bool IsGoAway(const wire::RpcMeta& meta) {
  return meta.correlation_id() == 0 && meta.response().error_code() == kLogoff;
}

}  // namespace

size_t ClientSession::OnRead(Buffer& input) {
  // All answers of this read get the same info.
  static_cast<void>(info_.Of(*connection_));
  while (oversized_.Skip(input)) {
    if (CutOrdinaryFrame(input, limits_, frame_, /*in_place=*/true)) [[likely]] {
      TakeAnswer();
    } else {
      const absl::StatusOr<size_t> need = CutAnswer(input);
      if (!need.ok()) {
        OnMalformed(input, need.status());
        return 0;
      }
      if (*need != 0) {
        NoteWhoseAnswerBegan(input, *need);
        const size_t await = placed_range_.Await(input.size(), *need);
        LetGoIfDone();
        return await;
      }
    }
    // Whoever waits now waits for the next connection.
    if (closing_) return 0;
  }
  LetGoIfDone();
  return 0;
}

void ClientSession::OnMalformed(const Buffer& input, const absl::Status& what) {
  NoteWhoseAnswerBegan(input, 0);
  const absl::Status why(what.code(),
                         absl::StrCat("bad answer from ", target_.text, ": ", what.message()));
  closing_ = true;
  connection_->Close(why, CloseMode::kAbort);
  FailSent(why);
}

// 0: one was taken.
absl::StatusOr<size_t> ClientSession::CutAnswer(Buffer& input) {
  const absl::StatusOr<size_t> cut = CutAnyFrame(input, limits_, frame_);
  if (!cut.ok() && absl::IsResourceExhausted(cut.status())) return OnOversized(input);
  if (!cut.ok() || *cut != 0) return cut;
  TakeAnswer();
  return 0;
}

// It was cut off.
void ClientSession::TakeAnswer() {
  begun_.reset();
  placed_range_.Clear();
  OnAnswer();
  // What the call did not take is dropped now, not when the next answer comes.
  frame_.payload.Clear();
  frame_.attachment.Clear();
  frame_.held = BlockRef();
}

void ClientSession::OnAnswer() {
  const wire::RpcMeta& meta = frame_.meta;
  if (meta.response().max_body_size() > 0) [[unlikely]]
    max_request_body_ = std::min<size_t>(meta.response().max_body_size(), UINT32_MAX);
  PendingCall* const call = calls_.Take(static_cast<uint64_t>(meta.correlation_id()));
  if (call == nullptr) return OnUnmatchedAnswer();
  static_cast<SessionCall*>(call)->OnAnswer(frame_, info_.last());
}

// It fails its own call; those of others go on, if the rest of it is worth reading.
absl::StatusOr<size_t> ClientSession::OnOversized(const Buffer& input) {
  const absl::StatusOr<size_t> met = oversized_.Meet(input, limits_, frame_);
  if (!met.ok() || *met != 0) return met;
  const std::string text = absl::StrCat(
      "the response has ", frame_.body_size, " bytes, over max_body_size of this channel, ",
      limits_.max_body_size, ": ask for less at once, or raise the limit");
  PendingCall* const call = calls_.Take(static_cast<uint64_t>(frame_.meta.correlation_id()));
  if (call != nullptr) {
    static_cast<SessionCall*>(call)->OnBrokenAnswer(kBadResponse, text, info_.Of(*connection_));
  }
  if (!oversized_.worth_skipping()) return absl::ResourceExhaustedError(text);
  return 0;
}

// Looks at its meta once. `frame_size` 0: it is malformed, and gets no place.
void ClientSession::NoteWhoseAnswerBegan(const Buffer& input, size_t frame_size) {
  if (begun_.has_value() || input.size() <= kFrameHeaderSize) return;
  const auto need = PeekMeta(input, {.max_body_size = UINT32_MAX}, frame_);
  if (!need.ok() || *need != 0) return;
  begun_ = static_cast<uint64_t>(frame_.meta.correlation_id());
  if (frame_size > 0) NotePlacedRange(frame_size);
}

// What the peer says wrongly of its size is found out when the frame is cut.
void ClientSession::NotePlacedRange(size_t frame_size) {
  const int64_t size = frame_.meta.attachment_size();
  const size_t rest = frame_size - kFrameHeaderSize - frame_.meta_size;
  if (size <= 0 || static_cast<uint64_t>(size) > rest) return;
  if (frame_.meta.response().error_code() != 0) return;
  const auto attachment = static_cast<size_t>(size);
  SessionCall* const call = Begun();
  if (call == nullptr || call->PlaceFor(attachment, 0, attachment).empty()) return;
  placed_range_.Set(frame_size, attachment);
}

// Asks the call each time: it may have ended meanwhile, and its memory is its owner's then.
Buffer ClientSession::PlaceFor(size_t ahead, size_t bytes) {
  const PlacedRange::Part part = placed_range_.Next(ahead, bytes);
  SessionCall* const call = part.bytes > 0 ? Begun() : nullptr;
  return call != nullptr ? call->PlaceFor(placed_range_.attachment(), part.offset, part.bytes)
                         : Buffer();
}

// Keeps this session too, so that the runtime waits for it: the call ends after it.
std::shared_ptr<void> ClientSession::HoldPlace() {
  struct Held {
    std::shared_ptr<ClientSession> session;
    std::shared_ptr<void> place;  // dropped first
  };
  SessionCall* const call = Begun();
  if (call == nullptr) return nullptr;
  auto place = call->HoldPlace();
  if (place == nullptr) return nullptr;
  return std::make_shared<Held>(Held{shared_from_this(), std::move(place)});
}

// Late, or never asked for; or the GOAWAY of a server that closes this connection: it has
// answered all that it took, and looked at nothing beyond.
void ClientSession::OnUnmatchedAnswer() {
  if (!IsGoAway(frame_.meta)) return;
  // A copy: calls that end may bring others, and with them other frames.
  const absl::Status why = absl::UnavailableError(frame_.meta.response().error_text());
  closing_ = true;
  connection_->Close(why, CloseMode::kAbort);
  // A server may close what is idle.
  if (observer_ != nullptr && !calls_.empty()) observer_->OnUnreachable(why);
  FailAll(kLogoff, why.message(), /*may_have_run=*/false);
}

}  // namespace farcall
