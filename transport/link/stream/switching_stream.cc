// SPDX-License-Identifier: Apache-2.0
//
// The links: which generations there are, and which link this side sends on.

#include "transport/link/stream/switching_stream.h"

#include <limits>
#include <utility>

#include "absl/strings/str_cat.h"
#include "transport/base/check.h"

namespace farcall {

SwitchingStream::SwitchingStream(const StreamLimits& limits, BlockPool& pool, Output& output,
                                 TimePoint now)
    : limits_(limits),
      output_(output),
      writer_(pool),
      send_(limits.send_window),
      receive_(limits.receive_window, limits.ack_delay),
      early_(pool, limits.receive_window),
      generations_(limits.rails),
      rails_(limits_),
      watch_(limits_, now) {}

bool SwitchingStream::MayStart() const {
  return !ending() && !generations_.enough() &&
         generations_.started() < std::numeric_limits<uint32_t>::max();
}

uint32_t SwitchingStream::Start() {
  Check(MayStart(), "a generation begins only where there is room for it, and before the end");
  return generations_.Start();
}

absl::Status SwitchingStream::Expect(uint64_t number) {
  if (!active()) return absl::OkStatus();
  const uint64_t next = uint64_t{generations_.started()} + 1;
  if (number != next || number > std::numeric_limits<uint32_t>::max()) {
    return absl::InvalidArgumentError(
        absl::StrCat("the peer asks for generation ", number, ", and ", next, " is the next"));
  }
  if (generations_.full()) {
    return absl::ResourceExhaustedError(absl::StrCat(
        "the peer asks for generation ", number, " while it has given up none of the last ",
        several() ? limits_.rails : Generations::kMax));
  }
  generations_.Start();
  return absl::OkStatus();
}

bool SwitchingStream::Alive(LinkId generation) const {
  return active() && generations_.Find(generation) != nullptr;
}

void SwitchingStream::OnGenerationReady(LinkId generation) {
  Generations::Generation* const found = generations_.Find(generation);
  if (!active() || found == nullptr) return;
  const bool fresh = !std::exchange(found->ready, true);
  if (several() && fresh) rails_.Add(generation);
  PickLink();
}

void SwitchingStream::OnGenerationBroken(LinkId generation, const absl::Status& why) {
  if (!active() || generations_.Find(generation) == nullptr) return;
  GiveUp(generation, why);
  PickLink();
}

void SwitchingStream::PickLink() {
  if (!active()) return;
  const Generations::Generation* const newest = generations_.Usable();
  if (!several() && sending_on_ == kLifeline && newest != nullptr) rails_.Add(newest->number);
  const LinkId home = rails_.home();
  if (sending_on_ == kLifeline && home != kLifeline) ++stats_.upgrades;
  sending_on_ = home;
}

// Of a generation that is not dead. Its own queue may be read once more from inside, so
// that what it brought counts in the RESUME; that may end the stream.
void SwitchingStream::GiveUp(LinkId generation, const absl::Status& why) {
  while (const uint32_t oldest = generations_.Dying(generation)) {
    output_.GiveUp(oldest, why);
    // What came by it need not go out again.
    Generations::Generation* const last =
        several() && active() ? generations_.Find(oldest) : nullptr;
    if (last != nullptr && last->received > last->sure) SendRailAck(kLifeline, *last);
    generations_.Kill(oldest);
  }
  if (!active()) return;
  Leave(generation);
  Send(kLifeline,
       {.type = LinkFrameType::kResume, .offset = receive_.received(), .number = generation});
}

// Sends on it no more, nor on what died with it.
void SwitchingStream::Leave(LinkId generation) {
  const LinkId before = sending_on_;
  if (several()) {
    for (const ByteRange& lost : rails_.Remove(generation)) send_.SendAgain(lost);
    sending_on_ = rails_.home();
  } else if (sending_on_ != kLifeline && sending_on_ <= generation) {
    rails_.Remove(sending_on_);
    sending_on_ = kLifeline;
    send_.Rewind();
  }
  if (before != kLifeline && sending_on_ == kLifeline) ++stats_.fallbacks;
}

StreamStats SwitchingStream::stats() const {
  StreamStats stats = stats_;
  stats.resent_bytes = send_.resent();
  stats.dropped_bytes += early_.dropped();
  return stats;
}

}  // namespace farcall
