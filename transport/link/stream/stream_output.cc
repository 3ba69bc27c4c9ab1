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
  FlushData(now);
  if (several()) FlushRailAcks(now);
  FlushAck(now);
  if (send_.in_flight() == 0) {
    unacknowledged_since_.reset();
  } else if (!unacknowledged_since_) {
    unacknowledged_since_ = now;
  }
  FlushPing(now);
}

void SwitchingStream::FlushData(TimePoint now) {
  while (send_.has_waiting()) {
    Rails::Choice choice{.rail = nullptr, .most = limits_.max_data};
    if (several() && sending_on_ != kLifeline) {
      if (send_.crumb(limits_.least_slice)) return;
      choice = rails_.Pick(send_.waiting(), now);
      if (choice.rail == nullptr) return;
    }
    const LinkId link = choice.rail == nullptr ? sending_on_ : choice.rail->number();
    const uint64_t offset = send_.next();
    const uint64_t sent = send_.highest();
    const Buffer* const alone = link == kLifeline ? nullptr : send_.NextAlone(choice.most);
    Buffer data = alone == nullptr ? send_.Next(choice.most) : Buffer();
    const size_t size = alone == nullptr ? data.size() : alone->size();
    if (size == 0) return;
    if (choice.rail != nullptr) choice.rail->Sent(offset, size, now);
    if (link == kLifeline) lifeline_end_ = offset + size;
    LinkFrame frame{.type = LinkFrameType::kData, .offset = offset};
    const size_t fresh = send_.highest() - sent;
    if (SendNow(link, frame, alone == nullptr ? data : *alone, fresh)) continue;
    frame.payload = alone == nullptr ? std::move(data) : alone->Share();
    Queue(link, std::move(frame), fresh);
  }
}

void SwitchingStream::FlushAck(TimePoint now) {
  if (!receive_.AckDue(now)) return;
  // An ACK that waits on another link holds up none on this one.
  const bool same = last_ack_ && last_ack_->link == sending_on_;
  if (same && !Left(*last_ack_)) return receive_.PostponeAck(now);
  Send(sending_on_, {.type = LinkFrameType::kAck});
  last_ack_ = Behind(sending_on_);
}

// All of it has been sent, and the peer does not have it: Soft-iWARP of Linux misses what comes
// right behind its answer to a connect, until more comes (siw_accept takes the socket's callbacks
// after it has answered).
void SwitchingStream::Nudge(LinkId generation) {
  if (output_.Unsent(generation) == 0) Send(generation, {.type = LinkFrameType::kAck});
}

void SwitchingStream::FlushPing(TimePoint now) {
  // The usual case, told without a look at the whole watch: no PING is due before this.
  if (!several() && unacknowledged_since_ && now < *unacknowledged_since_ + limits_.ping_interval) {
    return;
  }
  if (!watch_.PingDue(work(), now)) return;
  // Each of several rails has a watch of its own.
  const uint64_t number = watch_.Ask(send_.position(), several() ? kLifeline : sending_on_, now);
  if (several()) AskRails();
  Send(kLifeline, {.type = LinkFrameType::kPing, .number = number});
  ++stats_.pings;
}

void SwitchingStream::Send(LinkId link, LinkFrame&& frame) {
  if (!SendNow(link, frame, frame.payload, /*fresh=*/0)) Queue(link, std::move(frame), /*fresh=*/0);
}

// After SendNow. `fresh`: the last bytes of its payload, which were never sent before.
void SwitchingStream::Queue(LinkId link, LinkFrame&& frame, size_t fresh) {
  Buffer bytes = writer_.Encode(std::move(frame));
  Given(link).Add(fresh, bytes.size(), output_.Unsent(link));
  output_.Send(link, std::move(bytes));
}

// False: the frame is ready to be sent otherwise.
bool SwitchingStream::SendNow(LinkId link, LinkFrame& frame, const Buffer& payload, size_t fresh) {
  frame.acknowledged = receive_.acknowledged();
  receive_.OnAckSent();
  if (link == kLifeline) return false;
  char space[kMaxLinkHead];
  const absl::string_view head = EncodeLinkHead(frame, payload.size(), space);
  if (!output_.SendNow(link, head, payload)) return false;
  Given(link).Pass(fresh, head.size() + payload.size());
  return true;
}

size_t SwitchingStream::backlog() const {
  // The steady state: all that was sent has come, and only on a lifeline that was left may a copy
  // of it wait still.
  if (send_.highest() == send_.acknowledged() && output_.Unsent(kLifeline) == 0) {
    return send_.end() - send_.highest();
  }
  size_t bytes = send_.end() - send_.highest() + on_lifeline_.Own(output_.Unsent(kLifeline));
  for (const auto& rail : rails_.all()) bytes += rail->given.Own(output_.Unsent(rail->number()));
  return bytes;
}

SwitchingStream::Queued SwitchingStream::Behind(LinkId link) {
  return {.link = link, .end = Given(link).given()};
}

bool SwitchingStream::Left(const Queued& queued) {
  if (queued.link != kLifeline && rails_.Find(queued.link) == nullptr) return true;
  return Given(queued.link).given() >= queued.end + output_.Unsent(queued.link);
}

LifelineWatch::Work SwitchingStream::work() const {
  return {.unacknowledged_since = unacknowledged_since_,
          .expects_answer = expects_answer_,
          .still_since = several() ? rails_.StillSince() : std::nullopt};
}

std::optional<TimePoint> SwitchingStream::NextTimer() const {
  if (ended_) return std::nullopt;
  std::optional<TimePoint> next;
  if (bye_sent_) next = close_deadline_;
  if (shut_) return next;
  if (several()) next = Earlier(next, RailAckTime());
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
