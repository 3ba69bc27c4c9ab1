// SPDX-License-Identifier: Apache-2.0
//
// What a SwitchingStream does with several rails: counts what comes by each, tells the peer, and
// finds those on which nothing moves.

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "transport/link/stream/stream_errors.h"
#include "transport/link/stream/switching_stream.h"

namespace farcall {
// Whatever it says: also what came before by another way.
void SwitchingStream::CountReceived(LinkId link, size_t bytes, TimePoint now) {
  Generations::Generation* const generation = generations_.Find(link);
  if (generation == nullptr) return;
  if (generation->reported == generation->received) generation->ack_time = now + limits_.ack_delay;
  generation->received += bytes;
  generation->arrival = StampOf(now);
}

void SwitchingStream::OnRailAck(LinkId link, const LinkFrame& frame, TimePoint now) {
  const auto generation = static_cast<uint32_t>(frame.number);
  if (!several()) return End(BrokenRule("RAIL_ACK, and several rails are not agreed on"));
  if (generation > generations_.started() || (link != kLifeline && link != generation)) {
    return End(BrokenRule(absl::StrCat("RAIL_ACK of generation ", generation, " on ",
                                       link == kLifeline ? "the lifeline" : "another one",
                                       ", when ", generations_.started(), " were started")));
  }
  // It may have died here meanwhile, or have brought nothing yet.
  Rail* const rail = rails_.Find(generation);
  if (rail == nullptr || rail->Acknowledge(frame.offset, frame.arrival, now)) return;
  End(BrokenRule(absl::StrCat("RAIL_ACK of ", frame.offset, " bytes on generation ", generation,
                              ", and ", rail->flight().sent(), " were sent")));
}

void SwitchingStream::SendRailAck(LinkId link, Generations::Generation& generation) {
  generation.reported = generation.received;
  if (link == kLifeline) generation.sure = generation.received;
  Send(link, {.type = LinkFrameType::kRailAck,
              .offset = generation.received,
              .number = generation.number,
              .arrival = generation.arrival});
}

// On the generation itself, so that the peer learns of its way alone.
void SwitchingStream::FlushRailAcks(TimePoint now) {
  for (Generations::Generation& generation : generations_.live()) {
    const uint64_t owed = generation.received - generation.reported;
    if (owed == 0 || (owed < limits_.RailAckBytes() && now < generation.ack_time)) continue;
    const LinkId link = generation.number;
    // A peer that does not read must not make them pile up.
    if (!Left({.link = link, .end = generation.ack_given})) {
      generation.ack_time = now + limits_.ack_delay;
      continue;
    }
    SendRailAck(link, generation);
    generation.ack_given = Given(link).given();
  }
}

std::optional<TimePoint> SwitchingStream::RailAckTime() const {
  std::optional<TimePoint> next;
  for (const Generations::Generation& generation : generations_.live()) {
    if (generation.received == generation.reported) continue;
    next = next ? std::min(*next, generation.ack_time) : generation.ack_time;
  }
  return next;
}

void SwitchingStream::AskRails() {
  for (const auto& rail : rails_.all()) rail->progress.Ask(rail->flight().sent());
}

// The peer has answered a PING, behind what it had to tell of each rail.
void SwitchingStream::CheckRails(TimePoint now) {
  for (const auto& rail : rails_.all()) {
    rail->progress.Answer(rail->flight().acknowledged(), now);
  }
  while (active()) {
    const Rail* const stuck = rails_.FindStuck(now);
    if (stuck == nullptr) break;
    GiveUp(stuck->number(), StuckFor(rails_.ProgressTimeout(*stuck)));
  }
  // What it may still bring comes twice then; but the others need not wait until it is given up.
  while (Rail* const suspect = rails_.FindSuspect(now)) {
    for (const ByteRange& range : suspect->Suspect()) send_.SendAgain(range);
  }
  if (!active()) return;
  for (const auto& rail : rails_.all()) {
    if (rail->progress.Lacks(SuspectAfter(limits_), now)) Nudge(rail->number());
  }
}

}  // namespace farcall
