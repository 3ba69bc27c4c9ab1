// SPDX-License-Identifier: Apache-2.0
//
// FakeFabric: a NIC, a wire and a connection manager in one process, behind VerbsApi,
// so that the real RDMA code runs without a device. It obeys the man pages, and where
// they are silent what the kernel's rxe and siw do; where devices differ, it is strict.

#ifndef FARCALL_TRANSPORT_RDMA_TESTING_FABRIC_FAKE_FABRIC_H_
#define FARCALL_TRANSPORT_RDMA_TESTING_FABRIC_FAKE_FABRIC_H_

#include <rdma/rdma_cma.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "transport/rdma/testing/fabric/device/fake_options.h"
#include "transport/rdma/testing/fabric/fake_faults.h"
#include "transport/rdma/verbs/verbs_api.h"

namespace farcall {

struct FakeWorld;

// What surprises, and was seen with both drivers or with the one named:
//  - posting gives a positive errno with RoCE and InfiniBand, a negative one with iWARP (siw);
//  - the passive side is ESTABLISHED only after the active side has read its own event, but
//    may send before; the active side's first message may come before the event;
//  - each side's rnr_retry is the one that the *other* side gave (rdma_conn_param);
//  - after rdma_disconnect the DISCONNECTED of this side comes when the peer has
//    disconnected or destroyed its id, too; with iWARP at once;
//  - a request that its sender took back makes no event: accepting it fails;
//  - completions outlive their queue pair: they are still polled after its end.
//
// At most one at a time in a process, since the table's functions have no argument that
// could name it. Any thread. Ends after everything made with its table: what is then
// still alive is a violation.
//
// Violations are what a program must not do, though a real device might let it pass:
//  - posting a range that no region with that key, domain and access covers;
//  - changing bytes of a send before its completion was polled, or touching a
//    receive before it was delivered;
//  - deregistering what is posted, destroying what is in use or has events that are not
//    acknowledged (the real call would wait for ever), using what is destroyed;
//  - destroying a queue pair that still holds receives of a shared queue, which are lost;
//  - overflowing a completion queue;
//  - with iWARP, sending first from the passive side.
class FakeFabric {
 public:
  explicit FakeFabric(FakeFabricOptions options = {});
  FakeFabric(const FakeFabric&) = delete;
  FakeFabric& operator=(const FakeFabric&) = delete;
  // CheckClean().
  ~FakeFabric();

  const VerbsApi& api() const { return api_; }
  FakeFaults& faults() { return faults_; }

  // Lets one thing happen. False: nothing is in flight. What waits for this process alone
  // (a receive to be posted, a request to be accepted, an event to be read) is not.
  bool Step();
  // Steps until nothing is in flight; at most `limit` steps.
  void Settle(uint64_t limit = 1'000'000);
  uint64_t steps() const;

  // In the order in which they happened.
  std::vector<std::string> violations() const;
  // What is still alive, by name.
  std::vector<std::string> Leaks() const;
  // Prints violations and leaks, and aborts if there are any.
  void CheckClean() const;
  // CheckClean() will say nothing: for tests that show that a check bites.
  void ExpectViolations();

  FakeCounters counters(absl::string_view device) const;
  // Whether a memory window is bound to the byte: a peer may read it.
  bool IsOpen(const void* byte) const;
  // Of the completion channels that there are, oldest first.
  std::vector<int> completion_descriptors() const;

  // What was set with rdma_set_option; -1: nothing.
  struct IdOptions {
    int tos = -1;
    int ack_timeout = -1;
  };
  IdOptions id_options(const rdma_cm_id* id) const;
  // Attributes of the queue pair with this number, as ibv_query_qp(3) would tell.
  ibv_qp_attr queue_pair(uint32_t qp_num) const;

 private:
  const std::unique_ptr<FakeWorld> world_;
  const VerbsApi api_;
  FakeFaults faults_;
};

}  // namespace farcall

#endif  // FARCALL_TRANSPORT_RDMA_TESTING_FABRIC_FAKE_FABRIC_H_
