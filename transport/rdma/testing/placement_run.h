// SPDX-License-Identifier: Apache-2.0
//
// One transfer into memory that its owner wants back when something happens at one of its steps:
// what a test of the two rules of RDMA READ does again and again.
//
//   - Who gave memory to be read into gets it back when no READ can write there any more.
//   - Who sent memory gets it back when no window is open on it any more.

#ifndef FARCALL_TRANSPORT_RDMA_TESTING_PLACEMENT_RUN_H_
#define FARCALL_TRANSPORT_RDMA_TESTING_PLACEMENT_RUN_H_

#include <functional>
#include <string>

#include "transport/rdma/testing/fake_rdma.h"

namespace farcall {

struct PlacementCase {
  // What happens; null: nothing. The receiver's owner wants its memory back from then on.
  std::function<void(FakeFabric&)> fault = nullptr;
  bool receiver_closes = false;
  bool sender_closes = false;
  bool stops = false;   // both ends end
  bool flushes = true;  // FakeDeviceOptions
  uint64_t seed = 0;    // not 0: completions in any order
};

struct PlacementOutcome {
  std::string violation = {};  // of a rule; empty: none
  int steps = 0;
  uint64_t reads = 0;      // that were begun
  uint64_t landed = 0;     // bytes that came to lie in the memory
  bool in_flight = false;  // the memory was held when it was wanted back
};

// The fault at step `at`, counted from the first write; 0: none.
PlacementOutcome RunPlacement(const PlacementCase& test, int at);

}  // namespace farcall

#endif  // FARCALL_TRANSPORT_RDMA_TESTING_PLACEMENT_RUN_H_
