// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_TRANSPORT_RDMA_RDMA_FAULT_TESTING_H_
#define FARCALL_TRANSPORT_RDMA_RDMA_FAULT_TESTING_H_

#include <cstdint>
#include <string>

#include "absl/strings/match.h"
#include "absl/strings/string_view.h"
#include "gtest/gtest.h"
#include "transport/base/sanitizer.h"
#include "transport/rdma/testing/fault_run.h"

namespace farcall {

// Sanitizers make a run ten times slower: there, every so many positions stand for all. Those that
// ThreadSanitizer sees differ by the call that fails, not by what two threads do.
constexpr int PositionsApart() { return kThreadSanitizer ? 23 : kAddressSanitizer ? 7 : 1; }

// The same for runs that differ by their seed.
constexpr uint64_t RunsHere(uint64_t runs) { return runs / PositionsApart(); }

// What must hold of any run, and that an end that broke got the reason, in these words.
inline void ExpectReported(const FaultOutcome& outcome, absl::string_view why = "") {
  EXPECT_EQ(outcome.violation, "") << outcome.trace;
  if (outcome.status.ok()) return;
  EXPECT_FALSE(outcome.status.message().empty());
  EXPECT_TRUE(absl::StrContains(outcome.trace, why)) << "not trace: " << why << "\n"
                                                     << outcome.trace;
}

// At every step of the run without it; unless the fault is harmless at least one of them breaks it,
// and says why.
inline void AtEveryStep(const FaultCase& test, absl::string_view why = "") {
  const int steps = RunWithoutFault(test.change).steps;
  int broken = 0;
  for (int at = 1; at <= steps && !testing::Test::HasFailure(); at += PositionsApart()) {
    SCOPED_TRACE(at);
    const FaultOutcome outcome = RunWithFault(test, at);
    ExpectReported(outcome, why);
    if (!outcome.status.ok()) ++broken;
  }
  if (test.harmless) {
    EXPECT_EQ(broken, 0) << "the fault was none";
  } else if (PositionsApart() == 1) {
    // A sample may miss the only step at which it does harm.
    EXPECT_GT(broken, 0) << "the fault was one";
  }
}

}  // namespace farcall

#endif  // FARCALL_TRANSPORT_RDMA_RDMA_FAULT_TESTING_H_
