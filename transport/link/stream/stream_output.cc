// SPDX-License-Identifier: Apache-2.0
//
// What a SwitchingStream sends, and when.

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "transport/base/check.h"
#include "transport/link/stream/switching_stream.h"

namespace farcall {
namespace {

std::optional<TimePoint> Earlier(std::optional<TimePoint> a, std::optional<TimePoint> b) {
  if (!a || !b) return a ? a : b;
  return std::min(*a, *b);
}

}  // namespace

void SwitchingStream::SetPaused(bool paused, TimePoint now) {
  receive_.Freeze(paused && !closing_ && !receive_.complete(), now);
}

void SwitchingStream::SendUpgrade(LinkFrameType type, absl::string_view payload) {
  Check(IsUpgrade(type), "the rest is sent by the stream itself");
  if (active()) Send(kLifeline, {.type = type, .payload = Buffer(payload)});
}

void SwitchingStream::Flush(TimePoint now) {
  if (!active()) return;
  FlushData();
  FlushAck(now);
  if (send_.in_flight() == 0) {
    unacknowledged_since_.reset();
  } else if (!unacknowledged_since_) {
    unacknowledged_since_ = now;
  }
  FlushPing(now);
}

void SwitchingStream::FlushData() {
  for (;;) {
    const uint64_t offset = send_.position();
    const uint64_t sent = send_.highest();
    Buffer data = send_.Next(limits_.max_data);
    if (data.empty()) return;
    if (sending_on_ == kLifeline) lifeline_end_ = send_.position();
    Send(sending_on_, {.type = LinkFrameType::kData, .offset = offset, .payload = std::move(data)},
         send_.highest() - sent);
  }
}

void SwitchingStream::FlushAck(TimePoint now) {
  if (!receive_.AckDue(now)) return;
  if (last_ack_ && !Left(*last_ack_)) return receive_.PostponeAck(now);
  Send(sending_on_, {.type = LinkFrameType::kAck});
  last_ack_ = Behind(sending_on_);
}

void SwitchingStream::FlushPing(TimePoint now) {
  if (!watch_.PingDue(work(), now)) return;
  const uint64_t number = watch_.Ask(send_.position(), sending_on_, now);
  Send(kLifeline, {.type = LinkFrameType::kPing, .number = number});
  ++stats_.pings;
}

// `fresh`: the last bytes of its payload, which were never sent before.
void SwitchingStream::Send(LinkId link, LinkFrame frame, size_t fresh) {
  frame.acknowledged = receive_.acknowledged();
  receive_.Told();
  Buffer bytes = writer_.Encode(std::move(frame));
  Given(link).Add(fresh, bytes.size(), output_.Unsent(link));
  output_.Send(link, std::move(bytes));
}

size_t SwitchingStream::backlog() const {
  // The steady state: all that was sent has come, and only on a lifeline that was left may a copy
  // of it wait still.
  if (send_.highest() == send_.acknowledged() && output_.Unsent(kLifeline) == 0) {
    return send_.end() - send_.highest();
  }
  size_t bytes = send_.end() - send_.highest() + on_lifeline_.Own(output_.Unsent(kLifeline));
  if (sending_on_ != kLifeline) bytes += on_generation_.Own(output_.Unsent(sending_on_));
  return bytes;
}

SwitchingStream::Queued SwitchingStream::Behind(LinkId link) {
  return {.link = link, .end = Given(link).given()};
}

bool SwitchingStream::Left(const Queued& queued) {
  if (queued.link != kLifeline && queued.link != sending_on_) return true;
  return Given(queued.link).given() >= queued.end + output_.Unsent(queued.link);
}

LifelineWatch::Work SwitchingStream::work() const {
  return {.unacknowledged_since = unacknowledged_since_, .expects_answer = expects_answer_};
}

std::optional<TimePoint> SwitchingStream::NextTimer() const {
  if (ended_) return std::nullopt;
  std::optional<TimePoint> next;
  if (bye_sent_) next = close_deadline_;
  if (shut_) return next;
  return Earlier(next, Earlier(receive_.ack_time(), watch_.NextTime(work())));
}

void SwitchingStream::OnTimer(TimePoint now) {
  if (ended_) return;
  if (bye_sent_ && now >= close_deadline_) return OnCloseTimeout();
  if (shut_) return;
  if (watch_.PeerDead(now)) {
    const auto bound =
        std::chrono::duration_cast<std::chrono::milliseconds>(limits_.peer_timeout).count();
    End(absl::UnavailableError(
        absl::StrCat("the peer was silent for ", bound, " ms, although it was asked")));
  }
}

}  // namespace farcall
