// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_TRANSPORT_RDMA_TESTING_FABRIC_QUEUES_FAKE_COMPLETION_QUEUE_H_
#define FARCALL_TRANSPORT_RDMA_TESTING_FABRIC_QUEUES_FAKE_COMPLETION_QUEUE_H_

#include <infiniband/verbs.h>

#include <cstddef>
#include <cstdint>
#include <vector>

#include "transport/rdma/testing/fabric/device/fake_device.h"

namespace farcall {

class FakeQp;
class FakeReceiveQueue;
struct FakeCq;

struct FakeCompChannel : ibv_comp_channel {
  explicit FakeCompChannel(FakeContext& fake_context);
  FakeContext& owner;
  bool destroyed = false;
  FakeFdQueue<FakeCq*> events;
};

// What a completion frees when it is polled: slots of the send queue up to `position`, or
// one receive.
struct FakeCompletion {
  uint64_t wr_id = 0;
  ibv_wc_status status = IBV_WC_SUCCESS;
  ibv_wc_opcode opcode = IBV_WC_SEND;
  uint32_t vendor_error = 0;
  uint32_t byte_len = 0;
  uint32_t imm_data = 0;
  uint32_t qp_num = 0;
  uint32_t src_qp = 0;
  unsigned int flags = 0;
  bool solicited = false;
  FakeQp* sender = nullptr;
  uint64_t position = 0;
  FakeReceiveQueue* receives = nullptr;
};

// With the fabric's mutex held.
struct FakeCq : ibv_cq {
  FakeCq(FakeContext& fake_context, int entries, void* user, FakeCompChannel* fake_channel);

  void Push(const FakeCompletion& completion);
  int Poll(int count, ibv_wc* to);
  void Arm(bool solicited_only);
  // It is not polled any more: gives back what the completions hold.
  void Drop();

  FakeContext& owner;
  FakeCompChannel* const events_to;
  int queue_pairs = 0;
  uint64_t events_taken = 0;
  uint64_t events_acknowledged = 0;
  bool destroyed = false;

 private:
  // Moves one that may come next to the front.
  void Shuffle();
  FakeCompletion& At(size_t place);
  FakeCompletion Take();

  // Grows up to cqe.
  std::vector<FakeCompletion> ring_;
  size_t first_ = 0;
  size_t count_ = 0;
  bool armed_ = false;
  bool solicited_only_ = false;
};

}  // namespace farcall

#endif  // FARCALL_TRANSPORT_RDMA_TESTING_FABRIC_QUEUES_FAKE_COMPLETION_QUEUE_H_
