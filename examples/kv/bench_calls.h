// SPDX-License-Identifier: Apache-2.0
//
// The calls that the benchmark of the store makes, with values that tell whether they are right.

#ifndef FARCALL_EXAMPLES_KV_BENCH_CALLS_H_
#define FARCALL_EXAMPLES_KV_BENCH_CALLS_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "benchmarks/common/call_load.h"
#include "benchmarks/common/figures/call_tally.h"
#include "farcall/channel.h"

namespace example {

struct BenchData {
  uint64_t keys = 0;
  size_t value_bytes = 0;

  // 16 bytes, written into `key`: it is done for each key of each call that is measured.
  static void WriteKey(uint64_t number, std::string& key);
  std::string ValueOf(uint64_t number) const;
};

// Puts all values. Errors name the server's.
absl::Status Fill(farcall::Channel& channel, const BenchData& data);

// Gets keys at random, `batch` in one call: 1 by Get, more by MultiGet. A wrong answer counts as
// a failed call (EBADMSG). What it is given outlives it.
std::unique_ptr<farcall::bench::CallLoad::Slot> MakeGetSlot(farcall::Channel& channel,
                                                            const BenchData& data, int batch,
                                                            uint64_t seed,
                                                            farcall::bench::CallTally& tally);

}  // namespace example

#endif  // FARCALL_EXAMPLES_KV_BENCH_CALLS_H_
