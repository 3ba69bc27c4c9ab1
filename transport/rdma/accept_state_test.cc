// SPDX-License-Identifier: Apache-2.0

#include "transport/rdma/accept_state.h"

#include <array>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "gtest/gtest.h"

namespace farcall {
namespace {

constexpr std::array<absl::string_view, kAcceptStates> kStates = {"admitted", "accepting",
                                                                  "established", "open", "failed"};
constexpr std::array<absl::string_view, kAcceptEvents> kEvents = {
    "prepared",     "established",    "first_message", "set_up_failed", "connect_error",
    "disconnected", "device_removed", "timeout",       "cancelled"};
constexpr std::array<absl::string_view, 7> kActions = {"none", "accept", "open", "reject",
                                                       "fail", "close",  "drop"};

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
admitted + established -> failed: fail broken
admitted + first_message -> failed: fail broken
admitted + set_up_failed -> failed: reject device_refused
admitted + connect_error -> failed: fail broken
admitted + disconnected -> failed: fail broken
admitted + device_removed -> failed: fail broken
admitted + timeout -> failed: reject timed_out
admitted + cancelled -> failed: reject rejected
accepting + prepared -> failed: fail broken
accepting + established -> established: none
accepting + first_message -> open: open
accepting + set_up_failed -> failed: fail device_refused
accepting + connect_error -> failed: fail broken
accepting + disconnected -> failed: fail broken
accepting + device_removed -> failed: fail broken
accepting + timeout -> failed: fail timed_out
accepting + cancelled -> failed: drop
established + prepared -> failed: fail broken
established + established -> established: none
established + first_message -> open: open
established + set_up_failed -> failed: fail device_refused
established + connect_error -> failed: fail broken
established + disconnected -> failed: fail broken
established + device_removed -> failed: fail broken
established + timeout -> failed: fail timed_out
established + cancelled -> failed: drop
open + prepared -> open: none
open + established -> open: none
open + first_message -> open: none
open + set_up_failed -> failed: close broken
open + connect_error -> failed: close broken
open + disconnected -> failed: close broken
open + device_removed -> failed: close broken
open + timeout -> open: none
open + cancelled -> failed: drop
failed + prepared -> failed: none
failed + established -> failed: none
failed + first_message -> failed: none
failed + set_up_failed -> failed: none
failed + connect_error -> failed: none
failed + disconnected -> failed: none
failed + device_removed -> failed: none
failed + timeout -> failed: none
failed + cancelled -> failed: none
)";

TEST(AcceptStateTest, EachPairIsFrozen) { EXPECT_EQ(Table(), kTable); }

TEST(AcceptStateTest, NothingIsSentBeforeTheFirstMessage) {
  AcceptStep step = Advance(AcceptState::kAdmitted, AcceptEvent::kPrepared);
  EXPECT_EQ(step.action, AcceptAction::kAccept);
  step = Advance(step.next, AcceptEvent::kEstablished);
  EXPECT_EQ(step.action, AcceptAction::kNone);
  step = Advance(step.next, AcceptEvent::kFirstMessage);
  EXPECT_EQ(step.action, AcceptAction::kOpen);
  EXPECT_EQ(step.next, AcceptState::kOpen);
}

TEST(AcceptStateTest, TheFirstMessageMayBeReadFirst) {
  AcceptStep step = Advance(AcceptState::kAccepting, AcceptEvent::kFirstMessage);
  EXPECT_EQ(step.action, AcceptAction::kOpen);
  step = Advance(step.next, AcceptEvent::kEstablished);
  EXPECT_EQ(step, (AcceptStep{.next = AcceptState::kOpen}));
}

TEST(AcceptStateTest, WhoIsToldOfAFailureIsToldAReason) {
  for (int state = 0; state < kAcceptStates; ++state) {
    for (int event = 0; event < kAcceptEvents; ++event) {
      const AcceptStep step =
          Advance(static_cast<AcceptState>(state), static_cast<AcceptEvent>(event));
      const bool told = step.action == AcceptAction::kFail || step.action == AcceptAction::kClose ||
                        step.action == AcceptAction::kReject;
      EXPECT_EQ(told, step.why != WhyNotRdma::kInUse) << state << " " << event;
      EXPECT_TRUE(!told || step.next == AcceptState::kFailed) << state << " " << event;
    }
  }
}

}  // namespace
}  // namespace farcall
