// SPDX-License-Identifier: Apache-2.0

#include "transport/rdma/flow/accept_state.h"

#include <array>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "gtest/gtest.h"

namespace farcall {
namespace {

constexpr std::array<absl::string_view, kAcceptStates> kStates = {"admitted", "accepting", "open",
                                                                  "failed"};
constexpr std::array<absl::string_view, kAcceptEvents> kEvents = {
    "prepared",     "established",    "set_up_failed", "connect_error",
    "disconnected", "device_removed", "timeout",       "cancelled"};
constexpr std::array<absl::string_view, 5> kActions = {"none", "accept", "open", "reject", "fail"};

// A line for each pair: state + event -> next: action (why)
std::string Table() {
  std::string table = "\n";
  for (size_t state = 0; state < kStates.size(); ++state) {
    for (size_t event = 0; event < kEvents.size(); ++event) {
      const AcceptStep step =
          Advance(static_cast<AcceptState>(state), static_cast<AcceptEvent>(event));
      absl::StrAppend(
          &table, kStates[state], " + ", kEvents[event], " -> ",
          kStates[static_cast<size_t>(step.next)], ": ", kActions[static_cast<size_t>(step.action)],
          step.why == WhyNotRdma::kInUse ? "" : absl::StrCat(" ", Name(step.why)), "\n");
    }
  }
  return table;
}

constexpr char kTable[] = R"(
admitted + prepared -> accepting: accept
admitted + established -> failed: fail
admitted + set_up_failed -> failed: reject device_refused
admitted + connect_error -> failed: fail
admitted + disconnected -> failed: fail
admitted + device_removed -> failed: fail
admitted + timeout -> failed: reject timed_out
admitted + cancelled -> failed: reject rejected
accepting + prepared -> failed: fail
accepting + established -> open: open
accepting + set_up_failed -> failed: fail
accepting + connect_error -> failed: fail
accepting + disconnected -> failed: fail
accepting + device_removed -> failed: fail
accepting + timeout -> failed: fail
accepting + cancelled -> failed: fail
open + prepared -> open: none
open + established -> open: none
open + set_up_failed -> open: none
open + connect_error -> open: none
open + disconnected -> open: none
open + device_removed -> open: none
open + timeout -> open: none
open + cancelled -> open: none
failed + prepared -> failed: none
failed + established -> failed: none
failed + set_up_failed -> failed: none
failed + connect_error -> failed: none
failed + disconnected -> failed: none
failed + device_removed -> failed: none
failed + timeout -> failed: none
failed + cancelled -> failed: none
)";

TEST(AcceptStateTest, EachPairIsFrozen) { EXPECT_EQ(Table(), kTable); }

TEST(AcceptStateTest, OnlyAPeerThatIsRejectedIsToldAReason) {
  for (int state = 0; state < kAcceptStates; ++state) {
    for (int event = 0; event < kAcceptEvents; ++event) {
      const AcceptStep step =
          Advance(static_cast<AcceptState>(state), static_cast<AcceptEvent>(event));
      EXPECT_EQ(step.action == AcceptAction::kReject, step.why != WhyNotRdma::kInUse)
          << state << " " << event;
    }
  }
}

}  // namespace
}  // namespace farcall
