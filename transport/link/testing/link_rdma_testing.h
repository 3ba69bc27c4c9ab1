// SPDX-License-Identifier: Apache-2.0
//
// What tests of links over the real RDMA code, on a FakeFabric, share.

#ifndef FARCALL_TRANSPORT_LINK_TESTING_LINK_RDMA_TESTING_H_
#define FARCALL_TRANSPORT_LINK_TESTING_LINK_RDMA_TESTING_H_

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "transport/buffer/block_pool.h"
#include "transport/buffer/buffer.h"
#include "transport/link/testing/link_rdma_harness.h"
#include "transport/testing/conformance/conformance_harness.h"

namespace farcall {

using SteppedLink = LinkRdmaHarness<OverFake<SteppedRdmaHarness>>;
using DrivenLink = LinkRdmaHarness<OverFake<DrivenRdmaHarness>>;

// A machine that is busy elsewhere is no dead peer, and no rail that stands still.
inline UpgradeOptions PatientUpgradeOptions() {
  UpgradeOptions options;
  options.probe_timeout = options.hello_timeout = options.busy_hello_timeout =
      options.sniff_timeout = options.require_timeout = options.upgrade.answer =
          options.upgrade.dial = options.stream.peer_timeout = std::chrono::seconds(60);
  options.stream.progress_timeout = std::chrono::seconds(20);
  options.upgrade.first_pause = std::chrono::milliseconds(1);
  options.upgrade.longest_pause = std::chrono::milliseconds(8);
  return options;
}

// And with windows that a few messages fill.
inline UpgradeOptions LinkRdmaOptions(bool require, uint32_t rails = 1) {
  UpgradeOptions options = PatientUpgradeOptions();
  options.require_rdma = require;
  options.stream.send_window = options.stream.receive_window = size_t{1} << 20;
  options.stream.rails = rails;
  return options;
}

inline void LinkWithReferences(FakeFabricOptions&, RdmaRigOptions& rig) {
  rig.rdma.read_at_least = 4 << 10;
}

// No address leads to a device, as in a pod that has the cluster's network alone.
inline void LinkSetUpOverTcp(FakeFabricOptions& fabric, RdmaRigOptions& rig) {
  LinkWithReferences(fabric, rig);
  rig.rdma.set_up = RdmaSetUp::kOverTcp;
}

// Those of either end, of whatever generation.
inline std::vector<uint32_t> LinkQueuePairs(FakeFabric& fabric) {
  std::vector<uint32_t> pairs;
  for (const char* device : {"fakeA", "fakeB"}) {
    const std::vector<uint32_t> of_device = fabric.faults().QueuePairs(device);
    pairs.insert(pairs.end(), of_device.begin(), of_device.end());
  }
  return pairs;
}

// Bytes of a large block, whatever they are.
inline Buffer LargeBuffer(ConformanceHarness& harness, uint32_t bytes, char fill) {
  BlockRef block = harness.pool().Allocate(bytes);
  std::fill_n(block->bytes(), bytes, fill);
  Buffer out;
  out.Append({std::move(block), 0, bytes});
  harness.Settle();  // the devices know it
  return out;
}

}  // namespace farcall

#endif  // FARCALL_TRANSPORT_LINK_TESTING_LINK_RDMA_TESTING_H_
