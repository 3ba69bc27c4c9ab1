// SPDX-License-Identifier: Apache-2.0
//
// The conformance suite over links whose lifeline is real TCP, on loops with threads.

#include <memory>

#include "gtest/gtest.h"
#include "transport/link/testing/link_cases.h"
#include "transport/link/testing/link_harness.h"
#include "transport/tcp/testing/tcp_harness.h"
#include "transport/testing/conformance/connection_conformance.h"
#include "transport/testing/conformance/driven_harness.h"

namespace farcall {
namespace {

using Change = void (*)(LinkVariant&);

std::unique_ptr<ConformanceHarness> Make(Change change) {
  LinkVariant variant;
  // A machine that is busy elsewhere is no dead peer.
  for (UpgradeOptions* const options : {&variant.client, &variant.server}) {
    options->hello_timeout = options->require_timeout = options->upgrade.answer =
        options->upgrade.dial = options->stream.peer_timeout = std::chrono::seconds(60);
    options->stream.progress_timeout = std::chrono::seconds(20);
  }
  change(variant);
  return std::make_unique<LinkHarness>(TcpOn<DrivenHarness>("127.0.0.1:0"), variant);
}

void Upgrading(LinkVariant&) {}
void Required(LinkVariant& variant) {
  variant.client.require_rdma = variant.server.require_rdma = true;
}
void Breaking(LinkVariant& variant) {
  variant.fabric.network.reset = 0.01;
  for (UpgradeOptions* const options : {&variant.client, &variant.server}) {
    options->upgrade.first_pause = std::chrono::milliseconds(1);
    options->upgrade.longest_pause = std::chrono::milliseconds(4);
  }
}
void Declined(LinkVariant& variant) { variant.server.use_rdma = false; }
void PlainClient(LinkVariant& variant) { variant.client.use_rdma = false; }

std::vector<ConformanceCase> Cases(Change change) {
  return LinkCases([change] { return Make(change); });
}

INSTANTIATE_TEST_SUITE_P(Upgrading, ConnectionConformance, testing::ValuesIn(Cases(Upgrading)),
                         ConformanceCaseName);
INSTANTIATE_TEST_SUITE_P(Required, ConnectionConformance, testing::ValuesIn(Cases(Required)),
                         ConformanceCaseName);
INSTANTIATE_TEST_SUITE_P(Breaking, ConnectionConformance, testing::ValuesIn(Cases(Breaking)),
                         ConformanceCaseName);
INSTANTIATE_TEST_SUITE_P(Declined, ConnectionConformance, testing::ValuesIn(Cases(Declined)),
                         ConformanceCaseName);
INSTANTIATE_TEST_SUITE_P(PlainClient, ConnectionConformance, testing::ValuesIn(Cases(PlainClient)),
                         ConformanceCaseName);

}  // namespace
}  // namespace farcall
