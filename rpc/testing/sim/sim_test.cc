// SPDX-License-Identifier: Apache-2.0
//
// Client and server in virtual time, many seeds: every call ends once, by its
// deadline at the latest, with its own answer or an error that fits; no handler runs
// twice for one call, unless the policy lets it; every block comes home.

#include <memory>
#include <string>

#include "gtest/gtest.h"
#include "rpc/testing/sim/sim_run.h"
#include "transport/base/check.h"
#include "transport/testing/seeds_here.h"

namespace farcall {
namespace {

const uint64_t kSeeds = SeedsHere(40);

class SimTest : public ::testing::Test {
 protected:
  SimOutcome Run(uint64_t seed, const SimRunOptions& options) {
    SimOutcome outcome;
    {
      SimRun run(seed, *pool_, options);
      outcome = run.Go();
    }
    return outcome;
  }
  // Runs many seeds, which all must hold; returns what part of the calls succeeded.
  double ExpectAllHold(const SimRunOptions& options) {
    int calls = 0;
    int succeeded = 0;
    for (uint64_t seed = 1; seed <= kSeeds; ++seed) {
      const SimOutcome outcome = Run(seed, options);
      EXPECT_EQ(outcome.violation, "") << "seed " << seed;
      if (HasFailure()) break;
      calls += outcome.calls;
      succeeded += outcome.succeeded;
    }
    RecordProperty("calls", calls);
    RecordProperty("succeeded", succeeded);
    return static_cast<double>(succeeded) / calls;
  }

 private:
  static std::unique_ptr<BlockPool> NewPool() {
    auto pool = BlockPool::Create(BlockPoolOptions());
    Check(pool.ok(), "a test gets memory");
    return *std::move(pool);
  }
  const std::unique_ptr<BlockPool> pool_ = NewPool();
};

TEST_F(SimTest, OverANetworkThatIsOnlySlow) {
  const double succeeded = ExpectAllHold({});
  EXPECT_GT(succeeded, 0.3);
  EXPECT_LT(succeeded, 0.99);
}

TEST_F(SimTest, WhereCallsAreCancelled) {
  SimRunOptions options;
  options.cancels = true;
  ExpectAllHold(options);
}

TEST_F(SimTest, WhereConnectionsBreak) {
  SimRunOptions options;
  options.cancels = true;
  options.network.reset = 0.02;
  options.network.refuse = 0.1;
  ExpectAllHold(options);
}

TEST_F(SimTest, WhereBytesAndAnswersVanish) {
  SimRunOptions options;
  options.deadlines = true;
  options.cancels = true;
  options.network.mute = 0.005;
  options.network.reset = 0.005;
  options.network.unanswered = 0.1;
  ExpectAllHold(options);
}

TEST_F(SimTest, WhereTheServerIsRestarted) {
  SimRunOptions options;
  options.restarts = true;
  options.cancels = true;
  ExpectAllHold(options);
}

// By a policy that says so, and by none other, a handler may run more than once for a call: at
// most once for each request that went out.
TEST_F(SimTest, WhereWhatFailsIsTriedAgain) {
  SimRunOptions options;
  options.retries = true;
  options.cancels = true;
  options.deadlines = true;
  options.network.reset = 0.02;
  options.network.refuse = 0.1;
  options.network.mute = 0.003;
  ExpectAllHold(options);
}

TEST_F(SimTest, WhereTheServerIsRestartedAndCallsAreTriedAgain) {
  SimRunOptions options;
  options.retries = true;
  options.restarts = true;
  options.cancels = true;
  ExpectAllHold(options);
}

TEST_F(SimTest, OneSeedIsOneRun) {
  SimRunOptions options;
  options.cancels = true;
  options.network.refuse = 0.1;
  for (uint64_t seed = 1; seed <= 8; ++seed) {
    EXPECT_EQ(Run(seed, options).digest, Run(seed, options).digest) << "seed " << seed;
  }
  EXPECT_NE(Run(1, options).digest, Run(2, options).digest);
}

// A stream that loses bytes breaks calls, but neither hangs them nor ends them twice.
TEST_F(SimTest, WhereTheTransportDropsBytesCallsStillEndOnce) {
  SimRunOptions options;
  options.deadlines = true;
  options.tamper = Tamper::kDropBytes;
  ExpectAllHold(options);
}

// The checks see what must not be: here a stream that repeats itself, by which handlers run
// twice for one call.
TEST_F(SimTest, ATransportThatRepeatsBytesIsCaught) {
  SimRunOptions options;
  options.deadlines = true;
  options.tamper = Tamper::kRepeat;
  bool caught = false;
  for (uint64_t seed = 1; seed <= 20 && !caught; ++seed) {
    const std::string violation = Run(seed, options).violation;
    caught = violation.find("handler ran 2 times") != std::string::npos;
  }
  EXPECT_TRUE(caught);
}

}  // namespace
}  // namespace farcall
