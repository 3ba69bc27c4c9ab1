// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_TRANSPORT_RDMA_TESTING_FABRIC_QUEUES_FAKE_SEND_QUEUE_H_
#define FARCALL_TRANSPORT_RDMA_TESTING_FABRIC_QUEUES_FAKE_SEND_QUEUE_H_

#include <infiniband/verbs.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "transport/rdma/testing/fabric/device/fake_memory.h"

namespace farcall {

struct FakeSend {
  uint64_t wr_id = 0;
  ibv_wr_opcode opcode = IBV_WR_SEND;
  FakeBind bind{};          // of IBV_WR_BIND_MW
  uint32_t remote_key = 0;  // of IBV_WR_RDMA_READ and IBV_WR_LOCAL_INV
  uint64_t remote_address = 0;
  std::string read{};  // what the peer's memory held when it was asked
  const ibv_sge* ranges = nullptr;
  int count = 0;
  uint32_t bytes = 0;
  uint32_t imm_data = 0;
  bool with_imm = false;
  bool signaled = false;
  bool solicited = false;
  bool inlined = false;
  bool delivered = false;
  // The outcome, if it is settled before it leaves.
  ibv_wc_status outcome = IBV_WC_SUCCESS;
  uint32_t vendor_error = 0;
  bool outcome_after_delivery = false;
  uint64_t fingerprint = 0;

  bool message() const { return opcode == IBV_WR_SEND || opcode == IBV_WR_SEND_WITH_IMM; }
  bool needs_peer() const { return message() || opcode == IBV_WR_RDMA_READ; }
};

// The sends of a queue pair, in order. A slot is free again when the completion of this
// send, or of a later one, was polled. With the fabric's mutex held.
class FakeSendQueue {
 public:
  FakeSendQueue(FakeHost& host, FakePd& domain, const ibv_qp_cap& cap);

  // An errno; 0: posted.
  int Post(const ibv_send_wr& request, bool signaled);
  void OnPolled(uint64_t position);
  bool Holds(const FakeMr& region) const;
  void Clear();

  uint64_t posted() const { return posted_; }
  bool idle() const { return sent == posted_; }
  bool answered() const { return completed == posted_; }
  // Something that left waits for the peer.
  bool asking() const;
  // Not idle(): what leaves next.
  const FakeSend& Next() const { return ring_[sent % max_]; }
  FakeSend& At(uint64_t position) { return ring_[position % max_]; }
  // What the device reads now; a violation if the program changed it since.
  void CheckUnchanged(const FakeSend& send) const;

  uint64_t sent = 0;
  uint64_t completed = 0;

 private:
  void StoreInline(const ibv_send_wr& request, FakeSend& send);
  void StoreRanges(const ibv_send_wr& request, FakeSend& send);

  FakeHost& host_;
  FakePd& domain_;
  const uint32_t max_;
  const uint32_t max_ranges_;
  const uint32_t max_inline_;
  std::vector<FakeSend> ring_;
  std::vector<ibv_sge> ranges_;
  std::vector<char> inline_bytes_;
  uint64_t posted_ = 0;
  uint64_t freed_ = 0;
};

}  // namespace farcall

#endif  // FARCALL_TRANSPORT_RDMA_TESTING_FABRIC_QUEUES_FAKE_SEND_QUEUE_H_
