// SPDX-License-Identifier: Apache-2.0

#include "transport/rdma/flow/connect_state.h"

#include <array>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "gtest/gtest.h"

namespace farcall {
namespace {

constexpr std::array<absl::string_view, kConnectStates> kStates = {
    "resolving_address", "resolving_route", "connecting", "open", "failed"};
constexpr std::array<absl::string_view, kConnectEvents> kEvents = {
    "address_resolved", "route_resolved", "established", "bad_answer", "address_error",
    "route_error",      "connect_error",  "unreachable", "rejected",   "set_up_failed",
    "disconnected",     "device_removed", "timeout",     "cancelled"};
constexpr std::array<absl::string_view, 7> kActions = {"none", "resolve_route", "connect", "open",
                                                       "fail", "close",         "drop"};

// A line for each pair: state + event -> next: action (why)
std::string Table() {
  std::string table = "\n";
  for (size_t state = 0; state < kStates.size(); ++state) {
    for (size_t event = 0; event < kEvents.size(); ++event) {
      const ConnectStep step =
          Advance(static_cast<ConnectState>(state), static_cast<ConnectEvent>(event));
      absl::StrAppend(
          &table, kStates[state], " + ", kEvents[event], " -> ",
          kStates[static_cast<size_t>(step.next)], ": ", kActions[static_cast<size_t>(step.action)],
          step.why == WhyNotRdma::kInUse ? "" : absl::StrCat(" ", Name(step.why)), "\n");
    }
  }
  return table;
}

constexpr char kTable[] = R"(
resolving_address + address_resolved -> resolving_route: resolve_route
resolving_address + route_resolved -> failed: fail broken
resolving_address + established -> failed: fail broken
resolving_address + bad_answer -> failed: fail rejected
resolving_address + address_error -> failed: fail unreachable
resolving_address + route_error -> failed: fail unreachable
resolving_address + connect_error -> failed: fail broken
resolving_address + unreachable -> failed: fail unreachable
resolving_address + rejected -> failed: fail rejected
resolving_address + set_up_failed -> failed: fail device_refused
resolving_address + disconnected -> failed: fail broken
resolving_address + device_removed -> failed: fail broken
resolving_address + timeout -> failed: fail timed_out
resolving_address + cancelled -> failed: drop
resolving_route + address_resolved -> failed: fail broken
resolving_route + route_resolved -> connecting: connect
resolving_route + established -> failed: fail broken
resolving_route + bad_answer -> failed: fail rejected
resolving_route + address_error -> failed: fail unreachable
resolving_route + route_error -> failed: fail unreachable
resolving_route + connect_error -> failed: fail broken
resolving_route + unreachable -> failed: fail unreachable
resolving_route + rejected -> failed: fail rejected
resolving_route + set_up_failed -> failed: fail device_refused
resolving_route + disconnected -> failed: fail broken
resolving_route + device_removed -> failed: fail broken
resolving_route + timeout -> failed: fail timed_out
resolving_route + cancelled -> failed: drop
connecting + address_resolved -> failed: fail broken
connecting + route_resolved -> failed: fail broken
connecting + established -> open: open
connecting + bad_answer -> failed: fail rejected
connecting + address_error -> failed: fail unreachable
connecting + route_error -> failed: fail unreachable
connecting + connect_error -> failed: fail broken
connecting + unreachable -> failed: fail unreachable
connecting + rejected -> failed: fail rejected
connecting + set_up_failed -> failed: fail device_refused
connecting + disconnected -> failed: fail broken
connecting + device_removed -> failed: fail broken
connecting + timeout -> failed: fail timed_out
connecting + cancelled -> failed: drop
open + address_resolved -> open: none
open + route_resolved -> open: none
open + established -> open: none
open + bad_answer -> failed: close broken
open + address_error -> open: none
open + route_error -> open: none
open + connect_error -> failed: close broken
open + unreachable -> failed: close broken
open + rejected -> failed: close broken
open + set_up_failed -> failed: close broken
open + disconnected -> failed: close broken
open + device_removed -> failed: close broken
open + timeout -> open: none
open + cancelled -> failed: drop
failed + address_resolved -> failed: none
failed + route_resolved -> failed: none
failed + established -> failed: none
failed + bad_answer -> failed: none
failed + address_error -> failed: none
failed + route_error -> failed: none
failed + connect_error -> failed: none
failed + unreachable -> failed: none
failed + rejected -> failed: none
failed + set_up_failed -> failed: none
failed + disconnected -> failed: none
failed + device_removed -> failed: none
failed + timeout -> failed: none
failed + cancelled -> failed: none
)";

TEST(ConnectStateTest, EachPairIsFrozen) { EXPECT_EQ(Table(), kTable); }

TEST(ConnectStateTest, TheWayToOpen) {
  ConnectState state = ConnectState::kResolvingAddress;
  for (const ConnectEvent event :
       {ConnectEvent::kAddressResolved, ConnectEvent::kRouteResolved, ConnectEvent::kEstablished}) {
    state = Advance(state, event).next;
  }
  EXPECT_EQ(state, ConnectState::kOpen);
}

TEST(ConnectStateTest, WhoIsToldOfAFailureIsToldAReason) {
  for (int state = 0; state < kConnectStates; ++state) {
    for (int event = 0; event < kConnectEvents; ++event) {
      const ConnectStep step =
          Advance(static_cast<ConnectState>(state), static_cast<ConnectEvent>(event));
      const bool failed =
          step.action == ConnectAction::kFail || step.action == ConnectAction::kClose;
      EXPECT_EQ(failed, step.why != WhyNotRdma::kInUse) << state << " " << event;
      EXPECT_TRUE(!failed || step.next == ConnectState::kFailed) << state << " " << event;
    }
  }
}

}  // namespace
}  // namespace farcall
