// SPDX-License-Identifier: Apache-2.0

#include "rpc/testing/soak/soak_ledger.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <string>
#include <thread>
#include <vector>

#include "transport/testing/temp_dir.h"

namespace farcall {
namespace {

class SoakLedgerTest : public ::testing::Test {
 protected:
  TempDir directory_;
  const std::string path_ = directory_.path() + "/ledger";
  std::unique_ptr<SoakLedger> ledger_ = *SoakLedger::Open(path_);
};

TEST_F(SoakLedgerTest, AWriteRunsOnceAndIsAnsweredOnce) {
  for (int i = 0; i < 3; ++i) {
    const uint64_t id = ledger_->Begin();
    EXPECT_EQ(id, static_cast<uint64_t>(i));
    EXPECT_TRUE(ledger_->Run(id));
    ledger_->End(id, true);
  }
  const SoakLedger::Counts counts = ledger_->Count();
  EXPECT_EQ(counts.writes, 3u);
  EXPECT_EQ(counts.answered, 3u);
  EXPECT_EQ(counts.failed + counts.failed_and_run + counts.doubled + counts.answered_not_run +
                counts.not_ended + counts.ended_twice,
            0u);
}

TEST_F(SoakLedgerTest, WhatGoesWrongIsCounted) {
  const uint64_t doubled = ledger_->Begin();
  ledger_->Run(doubled);
  ledger_->Run(doubled);
  ledger_->End(doubled, true);
  ledger_->End(ledger_->Begin(), true);  // not run
  ledger_->Begin();                      // not ended
  const uint64_t twice = ledger_->Begin();
  ledger_->Run(twice);
  ledger_->End(twice, true);
  ledger_->End(twice, false);
  ledger_->End(ledger_->Begin(), false);
  const SoakLedger::Counts counts = ledger_->Count();
  EXPECT_EQ(counts.writes, 5u);
  EXPECT_EQ(counts.doubled, 1u);
  EXPECT_EQ(counts.answered_not_run, 1u);
  EXPECT_EQ(counts.not_ended, 1u);
  EXPECT_EQ(counts.ended_twice, 1u);
  EXPECT_EQ(counts.failed, 2u);
  EXPECT_EQ(counts.failed_and_run, 1u);
}

TEST_F(SoakLedgerTest, AWriteThatNeverBeganDoesNotRun) {
  EXPECT_FALSE(ledger_->Run(0));
  EXPECT_FALSE(ledger_->Run(~uint64_t{0}));
}

TEST_F(SoakLedgerTest, ManyRunsOfOneWriteAreNotTakenForNone) {
  const uint64_t id = ledger_->Begin();
  for (int i = 0; i < 1000; ++i) ledger_->Run(id);
  EXPECT_EQ(ledger_->Count().doubled, 1u);
}

TEST_F(SoakLedgerTest, AnotherProcessSeesItAndWhatItWroteOutlivesIt) {
  const uint64_t id = ledger_->Begin();
  const pid_t child = ::fork();
  if (child == 0) {
    (*SoakLedger::Open(path_))->Run(id);
    ::raise(SIGKILL);
  }
  ASSERT_EQ(::waitpid(child, nullptr, 0), child);
  ledger_->End(id, true);
  EXPECT_EQ(ledger_->Count().answered_not_run, 0u);
}

TEST_F(SoakLedgerTest, ThreadsShareIt) {
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([this] {
      for (int call = 0; call < 1000; ++call) {
        const uint64_t id = ledger_->Begin();
        ledger_->Run(id);
        ledger_->End(id, true);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  const SoakLedger::Counts counts = ledger_->Count();
  EXPECT_EQ(counts.answered, 4000u);
  EXPECT_EQ(counts.doubled + counts.ended_twice, 0u);
}

}  // namespace
}  // namespace farcall
