// SPDX-License-Identifier: Apache-2.0
//
// The conformance suite for links whose queue pairs are of real devices, set up over TCP. Not a
// part of the ordinary tests: it wants devices, two at least that reach each other.

#include <memory>
#include <string>

#include "gtest/gtest.h"
#include "transport/link/testing/link_cases.h"
#include "transport/link/testing/link_rdma_harness.h"
#include "transport/rdma/verbs/load.h"
#include "transport/testing/conformance/connection_conformance.h"

namespace farcall {
namespace {

UpgradeOptions Required() {
  UpgradeOptions options;
  options.require_rdma = true;
  options.stream.send_window = options.stream.receive_window = size_t{1} << 20;
  // A machine that is busy elsewhere is no dead peer.
  options.hello_timeout = options.stream.peer_timeout = std::chrono::seconds(60);
  options.stream.progress_timeout = std::chrono::seconds(20);
  return options;
}

RdmaRigOptions OverTcp() {
  RdmaRigOptions options;
  options.load = [] { return LoadVerbsApi(); };
  options.loops = 2;
  options.rdma.set_up = RdmaSetUp::kOverTcp;
  options.rdma.shared_receives = 256;
  options.rdma.read_at_least = 4 << 10;
  return options;
}

template <typename Rdma>
std::vector<ConformanceCase> Cases() {
  // The rig's places are for rdma_cm; a link has its own.
  return LinkCases(
      [] { return std::make_unique<LinkRdmaHarness<Rdma>>(Required(), OverTcp(), RdmaPlaces()); });
}

INSTANTIATE_TEST_SUITE_P(SteppedOverTcp, ConnectionConformance,
                         testing::ValuesIn(Cases<SteppedRdmaHarness>()), ConformanceCaseName);
INSTANTIATE_TEST_SUITE_P(DrivenOverTcp, ConnectionConformance,
                         testing::ValuesIn(Cases<DrivenRdmaHarness>()), ConformanceCaseName);

}  // namespace
}  // namespace farcall
