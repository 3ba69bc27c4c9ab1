// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_TRANSPORT_TESTING_SEEDS_HERE_H_
#define FARCALL_TRANSPORT_TESTING_SEEDS_HERE_H_

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "transport/base/sanitizer.h"

namespace farcall {

// How many seeds a simulation runs: `enough`, which finds each of its mutants five times over; a
// quarter of them under ThreadSanitizer, which makes a simulation ten times slower and watches its
// one thread for nothing. TEST_SEEDS in the environment is a factor: more for those who have the
// time, less for the inner loop (CONTRIBUTING.md).
inline uint64_t SeedsHere(uint64_t enough) {
  const char* const factor = std::getenv("TEST_SEEDS");
  if (kThreadSanitizer) enough = std::max<uint64_t>(enough / 4, 1);
  if (factor == nullptr) return enough;
  return std::max<uint64_t>(static_cast<uint64_t>(enough * std::stod(factor)), 1);
}

}  // namespace farcall

#endif  // FARCALL_TRANSPORT_TESTING_SEEDS_HERE_H_
