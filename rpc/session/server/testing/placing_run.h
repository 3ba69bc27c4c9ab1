// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_RPC_SESSION_SERVER_TESTING_PLACING_RUN_H_
#define FARCALL_RPC_SESSION_SERVER_TESTING_PLACING_RUN_H_

#include <cstdint>
#include <string>

#include "absl/strings/string_view.h"

namespace farcall {

struct PlacingOutcome {
  std::string violation = {};  // of a rule; empty: none
  int handled = 0;             // requests whose handler ran
  int in_place = 0;            // of these, with their attachment in memory of the service
  int failed = 0;              // memory that was given back with an error
  int late = 0;                // of these, because its request was over before its place was said
  int held = 0;                // and while a device wrote there
  uint64_t landed = 0;         // bytes that were written where they shall be

  // The first one counts.
  void Violated(absl::string_view rule) {
    if (violation.empty()) violation = std::string(rule);
  }
};

// A server's end of one connection, whose service says where attachments shall lie: at once, later,
// or nowhere; with bytes that come by read, by a device that writes as late as it may, and again
// after one is given up; and with everything that can end a request, at any step. What must hold:
//
//   - Nothing is written beside the memory, nor to it once it was given back.
//   - It is given back once, with OK if and only if the handler runs, which finds all bytes there.
//   - What is not ended from outside is answered.
PlacingOutcome RunPlacing(uint64_t seed);

}  // namespace farcall

#endif  // FARCALL_RPC_SESSION_SERVER_TESTING_PLACING_RUN_H_
