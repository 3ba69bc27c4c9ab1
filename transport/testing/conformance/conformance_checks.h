// SPDX-License-Identifier: Apache-2.0
//
// The rules of transport/transport.h as checks that run over any Transport and
// say what does not hold. connection_conformance.h makes tests of them.

#ifndef FARCALL_TRANSPORT_TESTING_CONFORMANCE_CONFORMANCE_CHECKS_H_
#define FARCALL_TRANSPORT_TESTING_CONFORMANCE_CONFORMANCE_CHECKS_H_

#include <vector>

#include "absl/status/status.h"
#include "transport/testing/conformance/conformance_harness.h"
#include "transport/testing/conformance/conformance_run.h"

namespace farcall {

struct ConformanceCheck {
  const char* name;  // an identifier
  void (*run)(ConformanceRun&);
};

// By subject.
std::vector<ConformanceCheck> ByteChecks();
std::vector<ConformanceCheck> FlowChecks();
std::vector<ConformanceCheck> PlacementChecks();
std::vector<ConformanceCheck> CloseChecks();
std::vector<ConformanceCheck> EndingChecks();
std::vector<ConformanceCheck> ConnectChecks();
std::vector<ConformanceCheck> ListenChecks();
// All of them.
std::vector<ConformanceCheck> ConformanceChecks();

// Runs one, and then looks whether every block came home. The error lists what was wrong.
absl::Status RunCheck(const ConformanceCheck& check, ConformanceHarness& harness);

}  // namespace farcall

#endif  // FARCALL_TRANSPORT_TESTING_CONFORMANCE_CONFORMANCE_CHECKS_H_
