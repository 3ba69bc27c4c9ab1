// SPDX-License-Identifier: Apache-2.0
//
// The conformance suite for links over real TCP and the real RDMA code, on a FakeFabric.

#ifndef FARCALL_TRANSPORT_LINK_TESTING_LINK_RDMA_CASES_H_
#define FARCALL_TRANSPORT_LINK_TESTING_LINK_RDMA_CASES_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "transport/link/testing/link_cases.h"
#include "transport/link/testing/link_rdma_testing.h"
#include "transport/testing/conformance/connection_conformance.h"

namespace farcall {

template <typename Harness>
std::vector<ConformanceCase> LinkRdmaCases(FakeMode mode, bool require,
                                           const FakeRdma::Change& change = nullptr,
                                           uint32_t rails = 1) {
  // Where RDMA is required, no peer has sent a request yet that would make it trusted.
  const auto room_for_untrusted = [change](FakeFabricOptions& fabric, RdmaRigOptions& rig) {
    rig.rdma.max_shared_receives = 512;
    // The third one is cut off.
    rig.rdma.devices = {"fakeA", "fakeB"};
    if (change) change(fabric, rig);
  };
  return LinkCases([=] {
    return std::make_unique<Harness>(LinkRdmaOptions(require, rails), mode, room_for_untrusted);
  });
}

}  // namespace farcall

#endif  // FARCALL_TRANSPORT_LINK_TESTING_LINK_RDMA_CASES_H_
