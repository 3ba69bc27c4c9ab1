// SPDX-License-Identifier: Apache-2.0

#include "tools/doctor/cluster/plan.h"

#include <algorithm>

#include "transport/base/check.h"

namespace farcall::doctor {
namespace {

// As in a tournament of `seats`, an even number: one player keeps their seat and the others move on
// by one, so that after seats - 1 rounds each has met each. One of an odd number rests.
Round Tournament(size_t nodes, size_t seats, size_t round) {
  const auto at = [&](size_t seat) { return seat == 0 ? 0 : 1 + (seat - 1 + round) % (seats - 1); };
  Round pairs;
  for (size_t seat = 0; seat < seats / 2; ++seat) {
    const Path pair{at(seat), at(seats - 1 - seat)};
    if (pair.from < nodes && pair.to < nodes) pairs.push_back(pair);
  }
  return pairs;
}

}  // namespace

std::vector<Round> RoundsOf(size_t nodes, size_t at_once) {
  Check(at_once > 0, "a round has a path");
  std::vector<Round> rounds;
  if (nodes < 2) return rounds;
  const size_t seats = nodes + nodes % 2;
  for (size_t turn = 0; turn < 2 * (seats - 1); ++turn) {
    Round pairs = Tournament(nodes, seats, turn / 2);
    for (Path& pair : pairs) {
      if (turn % 2 == 1) std::swap(pair.from, pair.to);
    }
    for (size_t first = 0; first < pairs.size(); first += at_once) {
      const size_t last = std::min(first + at_once, pairs.size());
      rounds.emplace_back(pairs.begin() + static_cast<std::ptrdiff_t>(first),
                          pairs.begin() + static_cast<std::ptrdiff_t>(last));
    }
  }
  return rounds;
}

}  // namespace farcall::doctor
