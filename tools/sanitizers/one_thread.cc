// SPDX-License-Identifier: Apache-2.0
//
// Linked into a program of tests that ThreadSanitizer does not see: a test in which a second thread
// ran fails. A thread that has ended is found, too: the processor time that it took stays in that
// of the process (clock_gettime(2), CLOCK_PROCESS_CPUTIME_ID).

#include <ctime>

#include "gtest/gtest.h"

namespace {

timespec TimeOf(clockid_t clock) {
  timespec now;
  EXPECT_EQ(clock_gettime(clock, &now), 0);
  return now;
}

long long Nanoseconds(const timespec& time) { return time.tv_sec * 1'000'000'000LL + time.tv_nsec; }

// The processor time of all other threads since the process began. This thread goes on between the
// two readings: the first function counts that as the others' time, the second takes it off.
long long OthersAtMost() {
  const timespec own = TimeOf(CLOCK_THREAD_CPUTIME_ID);
  return Nanoseconds(TimeOf(CLOCK_PROCESS_CPUTIME_ID)) - Nanoseconds(own);
}

long long OthersAtLeast() {
  const timespec all = TimeOf(CLOCK_PROCESS_CPUTIME_ID);
  return Nanoseconds(all) - Nanoseconds(TimeOf(CLOCK_THREAD_CPUTIME_ID));
}

class OneThread : public testing::EmptyTestEventListener {
 private:
  void OnTestStart(const testing::TestInfo&) override { others_ = OthersAtMost(); }
  void OnTestEnd(const testing::TestInfo& test) override {
    EXPECT_LE(OthersAtLeast(), others_)
        << "a second thread ran meanwhile, and ThreadSanitizer does not run this program; name the "
        << "file of " << test.test_suite_name() << " in `threads` of its room_test, or make its "
        << "one_thread_test a cc_test";
  }

  long long others_ = 0;  // nanoseconds until this test, at most
};

// The list of listeners owns it.
const bool appended = [] {
  testing::UnitTest::GetInstance()->listeners().Append(new OneThread);
  return true;
}();

}  // namespace
