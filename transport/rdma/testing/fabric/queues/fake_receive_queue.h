// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_TRANSPORT_RDMA_TESTING_FABRIC_QUEUES_FAKE_RECEIVE_QUEUE_H_
#define FARCALL_TRANSPORT_RDMA_TESTING_FABRIC_QUEUES_FAKE_RECEIVE_QUEUE_H_

#include <infiniband/verbs.h>

#include <cstddef>
#include <cstdint>
#include <vector>

#include "transport/rdma/testing/fabric/device/fake_memory.h"

namespace farcall {

class FakeQp;

struct FakeReceive {
  uint64_t wr_id = 0;
  const ibv_sge* ranges = nullptr;
  int count = 0;
  uint64_t bytes = 0;
  uint64_t fingerprint = 0;
  bool usable = true;  // its ranges are registered
};

// Posted receives, first in, first out. A slot is free again when the completion was
// polled. With the fabric's mutex held.
class FakeReceiveQueue {
 public:
  FakeReceiveQueue(FakeHost& host, FakePd& domain, uint32_t max_receives, uint32_t max_ranges);

  // An errno; 0: posted.
  int Post(const ibv_recv_wr& request);
  bool empty() const { return taken_ == posted_; }
  size_t size() const { return static_cast<size_t>(posted_ - taken_); }
  // The next one. Its ranges are good until the next Post.
  FakeReceive Take();
  void OnPolled() { ++freed_; }
  // Whether a posted receive uses the region.
  bool Holds(const FakeMr& region) const;
  void Clear();

  // Senders that found no receive here: each is woken once by the next Post.
  std::vector<FakeQp*> waiting;

 private:
  ibv_sge* RangesAt(uint64_t position) { return &ranges_[(position % max_) * max_ranges_]; }

  FakeHost& host_;
  FakePd& domain_;
  const uint32_t max_;
  const uint32_t max_ranges_;
  std::vector<FakeReceive> ring_;
  std::vector<ibv_sge> ranges_;
  uint64_t posted_ = 0;
  uint64_t taken_ = 0;
  uint64_t freed_ = 0;
};

struct FakeSrq : ibv_srq {
  FakeSrq(FakePd& fake_pd, const ibv_srq_init_attr& attr);

  FakePd& domain;
  FakeReceiveQueue receives;
  int queue_pairs = 0;
  int events_taken = 0;
  int events_acknowledged = 0;
  bool destroyed = false;
};

}  // namespace farcall

#endif  // FARCALL_TRANSPORT_RDMA_TESTING_FABRIC_QUEUES_FAKE_RECEIVE_QUEUE_H_
