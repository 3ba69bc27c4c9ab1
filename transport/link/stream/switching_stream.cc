// SPDX-License-Identifier: Apache-2.0
//
// The links: which generations there are, and which link this side sends on.

#include "transport/link/stream/switching_stream.h"

#include <limits>

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
      watch_(limits_, now) {}

bool SwitchingStream::MayStart() const {
  return active() && !generations_.any() && !bye_sent_ && !receive_.final() &&
         generations_.started() < std::numeric_limits<uint32_t>::max();
}

uint32_t SwitchingStream::Start() {
  Check(MayStart(), "a generation begins only when all before it are dead, and before the end");
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
    return absl::ResourceExhaustedError(absl::StrCat("the peer asks for generation ", number,
                                                     " while it has given up none of the last ",
                                                     Generations::kMost));
  }
  generations_.Start();
  return absl::OkStatus();
}

bool SwitchingStream::Alive(LinkId generation) const {
  return active() && generations_.Find(generation) != nullptr;
}

bool SwitchingStream::Reads(LinkId link) const {
  if (!active()) return false;
  if (link == kLifeline) return true;
  const Generations::Generation* const generation = generations_.Find(link);
  return generation != nullptr && generation->ready;
}

void SwitchingStream::OnGenerationReady(LinkId generation) {
  Generations::Generation* const found = generations_.Find(generation);
  if (!active() || found == nullptr) return;
  found->ready = true;
  PickLink();
}

void SwitchingStream::OnGenerationBroken(LinkId generation, const absl::Status& why) {
  if (!active() || generations_.Find(generation) == nullptr) return;
  GiveUp(generation, why);
  PickLink();
}

void SwitchingStream::PickLink() {
  if (!active() || sending_on_ != kLifeline) return;
  const Generations::Generation* const generation = generations_.Usable();
  if (generation == nullptr) return;
  sending_on_ = generation->number;
  on_generation_ = FramedBacklog();
  ++stats_.upgrades;
}

// Of a generation that is not dead. Its own queue may be read once more from inside, so
// that what it brought counts in the RESUME; that may end the stream.
void SwitchingStream::GiveUp(LinkId generation, const absl::Status& why) {
  while (const uint32_t oldest = generations_.Oldest(generation)) {
    output_.GiveUp(oldest, why);
    generations_.Kill(oldest);
  }
  if (!active()) return;
  if (sending_on_ != kLifeline && sending_on_ <= generation) {
    sending_on_ = kLifeline;
    send_.Rewind();
    ++stats_.fallbacks;
  }
  Send(kLifeline,
       {.type = LinkFrameType::kResume, .offset = receive_.received(), .number = generation});
}

StreamStats SwitchingStream::stats() const {
  StreamStats stats = stats_;
  stats.resent_bytes = send_.resent();
  return stats;
}

}  // namespace farcall
