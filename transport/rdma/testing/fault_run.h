// SPDX-License-Identifier: Apache-2.0
//
// An EchoRun with one fault: what a test of faults does again and again.

#ifndef FARCALL_TRANSPORT_RDMA_TESTING_FAULT_RUN_H_
#define FARCALL_TRANSPORT_RDMA_TESTING_FAULT_RUN_H_

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "transport/rdma/testing/fake_rdma.h"

namespace farcall {

// Few slots and little memory, so that a run is short and meets all limits.
void SmallRdma(FakeFabricOptions& fabric, RdmaRigOptions& rig);
void SmallRdmaWithoutShared(FakeFabricOptions& fabric, RdmaRigOptions& rig);
void SmallIwarp(FakeFabricOptions& fabric, RdmaRigOptions& rig);
// What is large enough is fetched by RDMA READ.
void SmallRdmaWithReferences(FakeFabricOptions& fabric, RdmaRigOptions& rig);

struct FaultCase {
  std::function<void(FakeFabric&)> fault;
  FakeRdma::Change change = SmallRdma;
  bool unheard = false;  // by the server
  bool harmless = false;
};

struct FaultOutcome {
  absl::Status status;  // what stopped the echo; OK: nothing
  // Why connections ended and devices were left, at both ends.
  std::string trace;
  // What must not be whatever goes wrong. Empty: nothing of that. (Leaks and broken rules abort.)
  std::string violation;
  int steps = 0;
  std::vector<std::string> calls;  // by name, those that can fail
  std::string failed_call;         // by FakeFaults::FailCall and FailCallNumber
  uint64_t sends = 0;              // posted, by both
  uint64_t receives = 0;           // delivered, at both
};

// The fault at step `at`; 0: before the first.
FaultOutcome RunWithFault(const FaultCase& test, int at);
FaultOutcome RunWithoutFault(const FakeRdma::Change& change);

}  // namespace farcall

#endif  // FARCALL_TRANSPORT_RDMA_TESTING_FAULT_RUN_H_
