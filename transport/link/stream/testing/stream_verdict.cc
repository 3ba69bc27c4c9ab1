// SPDX-License-Identifier: Apache-2.0

#include "transport/link/stream/testing/stream_verdict.h"

#include <algorithm>
#include <chrono>

#include "absl/strings/str_cat.h"

namespace farcall {

bool Settled(const StreamScenario& scenario, const StreamSides& sides) {
  for (int i = 0; i < 2; ++i) {
    const SwitchingStream& stream = sides[i]->stream();
    if (sides[i]->delivered() != sides[1 - i]->written()) return false;
    if (stream.sending_on() == kLifeline) return false;
  }
  // Who has nothing to say need not notice that it would say it in vain.
  if (scenario.one_sided) return true;
  // Each has its own home among those that are alive.
  if (scenario.several()) {
    return sides[0]->stream().Alive(sides[1]->stream().sending_on()) &&
           sides[1]->stream().Alive(sides[0]->stream().sending_on());
  }
  return sides[0]->stream().sending_on() == sides[1]->stream().sending_on();
}

std::string Progress(const StreamSides& sides) {
  return absl::StrCat("A has ", sides[0]->delivered(), " of ", sides[1]->written(),
                      " bytes and sends on ", sides[0]->stream().sending_on(), ", B has ",
                      sides[1]->delivered(), " of ", sides[0]->written(), " and sends on ",
                      sides[1]->stream().sending_on());
}

std::string WrongEnd(const StreamScenario& scenario, const StreamSides& sides, Duration calm) {
  const bool silence = scenario.ending == StreamEnding::kPeerStops ||
                       scenario.ending == StreamEnding::kLifelineFallsSilent;
  // An idle lifeline is asked after 1 s, and the answer waited for for 4.
  if (silence && calm > std::chrono::seconds(8)) return "a silence was noticed late";
  const bool orderly =
      scenario.ending == StreamEnding::kSettled || scenario.ending == StreamEnding::kEarly;
  for (int i = 0; i < 2; ++i) {
    const StreamSide& side = *sides[i];
    const StreamSide& peer = *sides[1 - i];
    const char* const name = i == 0 ? "A" : "B";
    if (side.frozen()) continue;
    if (!side.end()) return absl::StrCat(name, " has not ended");
    if (side.delivered() > peer.written()) return "more was delivered than was written";
    if (!orderly) continue;
    const bool good = side.closed() ? side.end()->ok() : side.end()->message() == "closed by peer";
    if (!good) return absl::StrCat(name, " ended with ", side.end()->ToString());
    // Who closes reads nothing more; who did not has everything.
    if (!side.closed() && side.delivered() != peer.written()) {
      return absl::StrCat(name, " has ", side.delivered(), " of ", peer.written(),
                          " bytes at the end");
    }
  }
  return std::string();
}

void AddStats(const StreamSides& sides, StreamSimStats& stats) {
  for (const auto& side : sides) {
    const StreamStats one = side->stream().stats();
    stats.upgrades += one.upgrades;
    stats.fallbacks += one.fallbacks;
    stats.resent_bytes += one.resent_bytes;
    stats.dropped_bytes += one.dropped_bytes;
    stats.pings += one.pings;
    stats.delivered_bytes += side->delivered();
    stats.rails_lost += side->rails_lost();
    stats.early_bytes += side->early();
    stats.rails_at_once = std::max<uint64_t>(stats.rails_at_once, side->rails_at_once());
    const bool in_order =
        side->end() && (side->end()->ok() || side->end()->message() == "closed by peer");
    stats.orderly_ends += in_order ? 1 : 0;
  }
}

}  // namespace farcall
