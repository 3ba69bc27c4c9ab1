// SPDX-License-Identifier: Apache-2.0

#include "tools/doctor/checks/queues.h"

#include <algorithm>

#include "absl/strings/str_cat.h"

namespace farcall::doctor {
namespace {

// What was carried is known by priority, and is nearly all in others.
bool IsElsewhere(const QueueCounters& moved, uint32_t priority) {
  constexpr double kEnough = 10e6;  // bytes
  constexpr double kShare = 0.01;
  double all = 0;
  double its = 0;
  for (const Counted counted : {Counted::kBytesSent, Counted::kBytesReceived}) {
    const auto values = moved.of_priority.find(counted);
    if (values == moved.of_priority.end()) continue;
    for (const uint64_t each : values->second) all += static_cast<double>(each);
    its += static_cast<double>(values->second[priority]);
  }
  return all > kEnough && its < all * kShare;
}

}  // namespace

Finding CheckQueues(const std::string& subject, const QueueCounters& moved,
                    std::optional<uint32_t> priority, const Watched& watched) {
  constexpr const char* kCheck = "priorities";
  constexpr const char* kWhere = "on the host: ethtool -S; dcb -s pfc show";
  if (!moved.known()) {
    return Unknown(
        kCheck, subject,
        moved.error.empty()
            ? absl::StrCat("of ", moved.named, " counters of the driver none is known here")
            : moved.error,
        "which priorities are paused and where packets are dropped is not known", kWhere);
  }
  const std::string told = TextOf(moved);
  const std::string text =
      absl::StrCat(watched.when, ": ", told.empty() ? "no pause, no discard, no byte" : told);
  const auto values = moved.of_priority.find(Counted::kDiscards);
  const auto dropped = [&](uint32_t of) {
    return values != moved.of_priority.end() && values->second[of] > 0;
  };
  const bool of_port = std::any_of(moved.discards.begin(), moved.discards.end(),
                                   [](const auto& each) { return each.second > 0; });
  if (priority.has_value() && dropped(*priority)) {
    return Degraded(
        kCheck, subject, text,
        absl::StrCat("packets of farcall's priority, ", *priority, ", were dropped"),
        "PFC for it at both ends of the cable, and a buffer that is large enough for the "
        "cable's length; ECN");
  }
  if (watched.carried_rdma && priority.has_value() && IsElsewhere(moved, *priority)) {
    return Degraded(
        kCheck, subject, text,
        absl::StrCat("hardly a byte of the load went in farcall's priority, ", *priority,
                     ": its mark is not what the adapter sorts by, or it was marked anew"),
        "the traffic class at both ends, and what the switches between them do to DSCP");
  }
  // Which priority lost them is not told: they may be farcall's.
  const bool not_told = of_port && (values == moved.of_priority.end() || !priority.has_value());
  if (not_told) {
    return Unknown(kCheck, subject, text, "packets were dropped; of which priority is not told",
                   kWhere);
  }
  const bool no_pauses = moved.of_priority.count(Counted::kPausesReceived) == 0;
  const bool no_discards = values == moved.of_priority.end() && moved.discards.empty();
  if (!priority.has_value() || no_pauses || no_discards) {
    return Unknown(kCheck, subject,
                   absl::StrCat(text, no_pauses ? "; pauses are not counted" : "",
                                no_discards ? "; discards are not counted" : ""),
                   priority.has_value() ? "what is not counted is not known"
                                        : "which priority is farcall's is not known",
                   kWhere);
  }
  return Ok(kCheck, subject, text);
}

}  // namespace farcall::doctor
