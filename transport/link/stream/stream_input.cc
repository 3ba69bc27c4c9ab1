// SPDX-License-Identifier: Apache-2.0
//
// What frames do to a SwitchingStream. Whatever a peer sends ends in progress or in Ended.

#include <utility>

#include "absl/strings/str_cat.h"
#include "transport/base/check.h"
#include "transport/link/stream/stream_errors.h"
#include "transport/link/stream/switching_stream.h"

namespace farcall {
namespace {

absl::Status BehindBye(uint64_t end, uint64_t bye) {
  return BrokenRule(absl::StrCat("DATA up to offset ", end, " after a BYE at ", bye));
}

}  // namespace

bool IsUpgrade(LinkFrameType type) {
  return type == LinkFrameType::kUpgradeAsk || type == LinkFrameType::kUpgradeOffer ||
         type == LinkFrameType::kUpgradeDecline || type == LinkFrameType::kUpgradeSetUp;
}

void SwitchingStream::OnFrame(LinkId link, LinkFrame& frame, TimePoint now) {
  if (!active()) return;
  if (link == kLifeline) {
    watch_.Heard(now);
  } else {
    const Generations::Generation* const generation = generations_.Find(link);
    if (generation == nullptr) return;
    Check(generation->ready, "frames are read only where the stream reads");
    const bool known = frame.type == LinkFrameType::kData || frame.type == LinkFrameType::kAck ||
                       frame.type == LinkFrameType::kRailAck;
    if (!known) {
      return End(BrokenRule(absl::StrCat(Name(frame.type), " on generation ", link)));
    }
  }
  ApplyAcknowledged(frame.acknowledged, now);
  if (active()) Handle(link, frame, now);
  if (several() || link == kLifeline) PickLink();
  AdvanceClose(now);
}

void SwitchingStream::OnGarbage(LinkId link, const absl::Status& why) {
  const std::string place =
      link == kLifeline ? std::string("the lifeline") : absl::StrCat("generation ", link);
  End(absl::Status(why.code(), absl::StrCat("on ", place, ": ", why.message())));
}

void SwitchingStream::ApplyAcknowledged(uint64_t offset, TimePoint now) {
  // Many bytes may stand before a PING on a slow lifeline. Their acknowledgements, which
  // come by any link, show that they move.
  const uint64_t before = send_.acknowledged();
  if (offset > before && before < lifeline_end_) watch_.Heard(now);
  if (!send_.Acknowledge(offset)) {
    return End(BrokenRule(absl::StrCat("it acknowledges offset ", offset, ", and ", send_.highest(),
                                       " bytes were sent")));
  }
  if (send_.in_flight() == 0) unacknowledged_since_.reset();
  if (!several() || offset <= before) return;
  for (const auto& rail : rails_.all()) rail->Raise(offset);
}

void SwitchingStream::Handle(LinkId link, LinkFrame& frame, TimePoint now) {
  switch (frame.type) {
    case LinkFrameType::kData:
      return OnData(link, frame, now);
    case LinkFrameType::kResume:
      return OnResume(frame);
    case LinkFrameType::kPing:
      return OnPing(frame);
    case LinkFrameType::kPong:
      return OnPong(frame, now);
    case LinkFrameType::kBye:
      return OnBye(frame, now);
    case LinkFrameType::kRailAck:
      return OnRailAck(link, frame, now);
    case LinkFrameType::kAck:
    case LinkFrameType::kUpgradeAsk:
    case LinkFrameType::kUpgradeOffer:
    case LinkFrameType::kUpgradeDecline:
    case LinkFrameType::kUpgradeSetUp:
      return;
  }
}

void SwitchingStream::OnData(LinkId link, LinkFrame& frame, TimePoint now) {
  if (several()) CountReceived(link, frame.payload.size(), now);
  if (frame.offset + frame.payload.size() > receive_.limit()) {
    return End(BrokenRule(absl::StrCat("DATA up to offset ", frame.offset + frame.payload.size(),
                                       ", where the window ends at ", receive_.limit())));
  }
  if (frame.offset > receive_.received()) {
    if (link == kLifeline) {
      return End(
          BrokenRule(absl::StrCat("DATA at offset ", frame.offset, " on the lifeline, where ",
                                  receive_.received(), " is the next")));
    }
    return KeepEarly(frame);
  }
  TakeData(frame, now);
  while (active() && !early_.empty()) {
    EarlyBytes::Run due = early_.Take(receive_.received());
    if (due.bytes.empty()) return;
    LinkFrame run{.type = LinkFrameType::kData, .offset = due.offset};
    run.payload = std::move(due.bytes);
    TakeData(run, now);
  }
}

// Others are in front of them, which come on another link. The window holds the sender.
void SwitchingStream::KeepEarly(LinkFrame& frame) {
  const uint64_t end = frame.offset + frame.payload.size();
  if (receive_.final() && end > *receive_.final()) return End(BehindBye(end, *receive_.final()));
  const absl::Status kept = early_.Add(frame.offset, std::move(frame.payload));
  if (!kept.ok()) End(BrokenRule(kept.message()));
}

void SwitchingStream::TakeData(LinkFrame& frame, TimePoint now) {
  const size_t size = frame.payload.size();
  if (receive_.final() && frame.offset + size > *receive_.final()) {
    return End(BehindBye(frame.offset + size, *receive_.final()));
  }
  receive_.Take(frame.offset, frame.payload, now);
  stats_.dropped_bytes += size - frame.payload.size();
  // Nothing can come any more that a handler which has paused would have to be spared.
  if (receive_.complete()) receive_.Freeze(false, now);
  if (!closing_ && !frame.payload.empty()) output_.Deliver(std::move(frame.payload));
}

void SwitchingStream::OnResume(const LinkFrame& frame) {
  const auto generation = static_cast<uint32_t>(frame.number);
  if (!generations_.Resume(generation)) {
    return End(
        BrokenRule(absl::StrCat("RESUME of generation ", generation, ", when ",
                                generations_.started(), " were started, again or too late")));
  }
  if (frame.offset > send_.highest()) {
    return End(BrokenRule(absl::StrCat("RESUME at offset ", frame.offset, ", and ", send_.highest(),
                                       " bytes were sent")));
  }
  if (several()) send_.Spare(frame.offset);
  if (generations_.Find(generation) != nullptr) {
    GiveUp(generation, absl::UnavailableError("the peer gave it up"));
  }
  if (active() && !several() && sending_on_ == kLifeline) send_.Raise(frame.offset);
}

void SwitchingStream::OnPing(const LinkFrame& frame) {
  // The next may be asked only when the answer was read, which then is not here any more:
  // so a peer that does not read cannot make answers pile up.
  if (last_pong_ && !Left(*last_pong_)) {
    return End(BrokenRule("a PING before the answer to the last one"));
  }
  if (several()) {
    for (Generations::Generation& one : generations_.live()) {
      if (one.received > one.sure) SendRailAck(kLifeline, one);
    }
  }
  Send(kLifeline,
       {.type = LinkFrameType::kPong, .offset = receive_.received(), .number = frame.number});
  last_pong_ = Behind(kLifeline);
}

void SwitchingStream::OnPong(const LinkFrame& frame, TimePoint now) {
  if (frame.offset > send_.highest() || !watch_.Answer(frame.number, frame.offset, now)) {
    return End(BrokenRule(
        absl::StrCat("PONG ", frame.number, " at offset ", frame.offset, " answers no PING")));
  }
  if (several()) return CheckRails(now);
  if (watch_.Stuck(sending_on_, now)) GiveUp(sending_on_, StuckFor(limits_.LastProgressTimeout()));
  if (active() && watch_.Still(sending_on_, now)) Nudge(sending_on_);
}

void SwitchingStream::OnBye(const LinkFrame& frame, TimePoint now) {
  if (receive_.final() || frame.offset < early_.end() || !receive_.SetFinal(frame.offset)) {
    return End(
        BrokenRule(absl::StrCat("BYE at offset ", frame.offset,
                                receive_.final() ? " after another" : ", which it had passed")));
  }
  if (receive_.complete()) receive_.Freeze(false, now);
}

}  // namespace farcall
