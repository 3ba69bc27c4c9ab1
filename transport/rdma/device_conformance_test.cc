// SPDX-License-Identifier: Apache-2.0
//
// The conformance suite over real devices: addresses of this host's RDMA devices come from
// the environment.
//
//   FARCALL_RDMA_LISTEN   where listeners are opened, an IP address without port
//   FARCALL_RDMA_SILENT   where no host answers, of the same network
//
// Without them it says so and fails: it is not a part of the ordinary tests.

#include <cstdlib>
#include <memory>
#include <string>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "transport/rdma/testing/rdma_harness.h"
#include "transport/rdma/verbs/load.h"
#include "transport/testing/conformance/connection_conformance.h"

namespace farcall {
namespace {

Address At(const char* variable, uint16_t port) {
  const char* const ip = std::getenv(variable);
  const auto address = Address::Parse(absl::StrCat(ip == nullptr ? "" : ip, ":", port));
  return address.ok() ? *address : Address();
}

RdmaPlaces Places() {
  return {At("FARCALL_RDMA_LISTEN", 0), At("FARCALL_RDMA_LISTEN", 1), At("FARCALL_RDMA_SILENT", 7)};
}

RdmaRigOptions Options() {
  RdmaRigOptions options;
  options.load = [] { return LoadVerbsApi(); };
  options.loops = 2;
  options.rdma.shared_receives = 256;
  return options;
}

INSTANTIATE_TEST_SUITE_P(Stepped, ConnectionConformance, ::testing::ValuesIn(ConformanceCases([] {
                           return std::make_unique<SteppedRdmaHarness>(Options(), Places());
                         })),
                         ConformanceCaseName);
INSTANTIATE_TEST_SUITE_P(Driven, ConnectionConformance, ::testing::ValuesIn(ConformanceCases([] {
                           return std::make_unique<DrivenRdmaHarness>(Options(), Places());
                         })),
                         ConformanceCaseName);

// Where the device has memory windows; else bytes are sent.
RdmaRigOptions WithReferences() {
  RdmaRigOptions options = Options();
  options.rdma.read_at_least = 4 << 10;
  return options;
}

INSTANTIATE_TEST_SUITE_P(References, ConnectionConformance,
                         ::testing::ValuesIn(ConformanceCases([] {
                           return std::make_unique<SteppedRdmaHarness>(WithReferences(), Places());
                         })),
                         ConformanceCaseName);

}  // namespace
}  // namespace farcall
