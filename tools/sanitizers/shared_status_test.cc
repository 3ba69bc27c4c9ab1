// SPDX-License-Identifier: Apache-2.0

#include <atomic>
#include <string>
#include <thread>

#include "absl/status/status.h"
#include "absl/strings/cord.h"
#include "gtest/gtest.h"

namespace {

absl::Status WithPayload() {
  absl::Status status = absl::UnavailableError("no answer");
  status.SetPayload("a/type", absl::Cord(std::string(100, 'x')));
  return status;
}

// Nothing but the count of its owners orders what two threads do with a Status.
TEST(SharedStatusTest, LastOwnerMayFreeItOnAnyThread) {
  auto* ours = new absl::Status(WithPayload());
  std::atomic<bool> compared = false;
  std::thread other([theirs = *ours, &compared]() mutable {
    EXPECT_EQ(theirs, WithPayload());
    theirs = absl::OkStatus();
    compared.store(true, std::memory_order_relaxed);
  });
  while (!compared.load(std::memory_order_relaxed)) std::this_thread::yield();
  delete ours;
  other.join();
}

}  // namespace
