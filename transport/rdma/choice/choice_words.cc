// SPDX-License-Identifier: Apache-2.0

#include "transport/rdma/choice/choice_words.h"

#include <algorithm>
#include <tuple>

#include "absl/strings/str_cat.h"
#include "transport/rdma/choice/fabric.h"

namespace farcall {
namespace {

auto Tied(const ChoiceRank& rank) {
  return std::tie(rank.rails, rank.failures, rank.over_tcp, rank.fabric, rank.uses, rank.share,
                  rank.rate, rank.far, rank.other_share, rank.turn, rank.own_chance,
                  rank.offered_chance, rank.own_name, rank.offered_name);
}

// What makes the one worse than the other; empty: nothing does.
absl::string_view WhyAfter(const ChoiceRank& rank, const ChoiceRank& first) {
  if (rank.rails != first.rails) return "rails of the connection use its ports";
  if (rank.failures != first.failures) return "it failed lately";
  if (rank.over_tcp != first.over_tcp) return "it is set up over TCP";
  if (rank.fabric != first.fabric) return "the network is another one";
  if (rank.uses != first.uses) return "its ports are tried already";
  if (rank.share != first.share) return "a connection has less of its rate";
  if (rank.rate != first.rate) return "it is slower";
  if (rank.far != first.far) return "it is on another NUMA node than the loop";
  if (rank.other_share != first.other_share) return "there are more connections";
  if (rank.turn != first.turn) return "the server named it later";
  return Tied(rank) == Tied(first) ? "" : "by chance";
}

uint32_t RateOf(const OwnEnd* own, const OfferedEnd& offered) {
  if (own == nullptr || own->rate == 0) return offered.rate;
  return offered.rate == 0 ? own->rate : std::min(own->rate, offered.rate);
}

std::string Count(const PortEnd& end, absl::string_view where) {
  if (!end.connections) return "";
  return absl::StrCat(", ", *end.connections,
                      *end.connections == 1 ? " connection " : " connections ", where);
}

absl::string_view Place(const OwnEnd* own, int fabric) {
  if (own != nullptr) return ToString(static_cast<Fabric>(fabric));
  return fabric == 0 ? "an address of this host" : "as the routes of this host lead";
}

}  // namespace

bool ChoiceRank::operator<(const ChoiceRank& other) const { return Tied(*this) < Tied(other); }

std::string DescribePair(const OwnEnd* own, const OfferedEnd& offered, const ChoiceRank& rank,
                         const ChoiceRank& first) {
  std::string text = own == nullptr ? "" : own->device;
  absl::StrAppend(&text, text.empty() ? "to " : " to ",
                  offered.device.empty() ? "an unnamed device" : offered.device, ": ",
                  Place(own, rank.fabric));
  if (const uint32_t rate = RateOf(own, offered); rate > 0) {
    absl::StrAppend(&text, ", ", rate / 1000.0, " Gb/s");
  }
  if (own != nullptr) absl::StrAppend(&text, Count(*own, "here"));
  absl::StrAppend(&text, Count(offered, "there"));
  if (rank.far) absl::StrAppend(&text, ", on another NUMA node than the loop");
  const absl::string_view after = WhyAfter(rank, first);
  if (!after.empty()) absl::StrAppend(&text, "; after others: ", after);
  return text;
}

}  // namespace farcall
