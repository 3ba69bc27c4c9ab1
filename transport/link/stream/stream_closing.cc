// SPDX-License-Identifier: Apache-2.0
//
// How a SwitchingStream ends.

#include <utility>

#include "absl/strings/str_cat.h"
#include "transport/link/stream/switching_stream.h"

namespace farcall {

void SwitchingStream::CloseAfterFlush(TimePoint now) {
  if (ended_ || closing_) return;
  closing_ = true;
  if (shut_) return;
  receive_.Freeze(false, now);
  if (!bye_sent_) SendBye(now);
  AdvanceClose(now);
}

void SwitchingStream::Abort(const absl::Status& why) { End(why); }

void SwitchingStream::SendBye(TimePoint now) {
  bye_sent_ = true;
  close_deadline_ = now + limits_.close_timeout;
  Send(kLifeline, {.type = LinkFrameType::kBye, .offset = send_.end()});
}

void SwitchingStream::AdvanceClose(TimePoint now) {
  if (!active()) return;
  if (receive_.complete() && !bye_sent_) {
    // The peer reads nothing any more: it closed, or it would not have sent its BYE.
    send_.DropUnsent();
    SendBye(now);
  }
  if (!bye_sent_ || !receive_.complete() || send_.acknowledged() != send_.end()) return;
  // On the lifeline, so that it stands before the end of file.
  Send(kLifeline, {.type = LinkFrameType::kAck});
  shut_ = true;
  output_.ShutDownWriting();
}

void SwitchingStream::OnLifelineEnd(const absl::Status& why) {
  if (shut_) return EndInOrder();
  if (!why.ok()) return End(why);
  End(absl::UnavailableError("the lifeline ended in the middle of the stream"));
}

void SwitchingStream::OnCloseTimeout() {
  // What is lacking is only the peer's end of file.
  if (shut_) return EndInOrder();
  const auto bound =
      std::chrono::duration_cast<std::chrono::milliseconds>(limits_.close_timeout).count();
  End(absl::DeadlineExceededError(absl::StrCat("close timed out: in ", bound, " ms the peer took ",
                                               send_.acknowledged(), " of ", send_.end(),
                                               " bytes")));
}

void SwitchingStream::EndInOrder() {
  End(closing_ ? absl::OkStatus() : absl::UnavailableError("closed by peer"));
}

void SwitchingStream::End(const absl::Status& why) {
  if (std::exchange(ended_, true)) return;
  output_.Ended(why);
}

}  // namespace farcall
