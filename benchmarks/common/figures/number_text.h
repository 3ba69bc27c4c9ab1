// SPDX-License-Identifier: Apache-2.0
//
// Numbers for people, with three digits that mean something.

#ifndef FARCALL_BENCHMARKS_COMMON_FIGURES_NUMBER_TEXT_H_
#define FARCALL_BENCHMARKS_COMMON_FIGURES_NUMBER_TEXT_H_

#include <chrono>
#include <cstdint>
#include <string>

namespace farcall::bench {

// "0", "0.25", "9.31", "47.2", "814", "97,768". Negative and infinite ones do not occur.
std::string NumberText(double value);
// All digits: "0", "7", "97,768".
std::string CountText(uint64_t count);
// Microseconds, by NumberText.
std::string MicrosText(std::chrono::nanoseconds time);

}  // namespace farcall::bench

#endif  // FARCALL_BENCHMARKS_COMMON_FIGURES_NUMBER_TEXT_H_
