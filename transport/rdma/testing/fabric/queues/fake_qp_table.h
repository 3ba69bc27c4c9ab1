// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_TRANSPORT_RDMA_TESTING_FABRIC_QUEUES_FAKE_QP_TABLE_H_
#define FARCALL_TRANSPORT_RDMA_TESTING_FABRIC_QUEUES_FAKE_QP_TABLE_H_

#include <infiniband/verbs.h>
#include <rdma/rdma_cma.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "transport/rdma/testing/fabric/queues/fake_queue_pair.h"

namespace farcall {

// All queue pairs of the fabric. With its mutex held.
class FakeQpTable {
 public:
  explicit FakeQpTable(FakeHost& host) : host_(host) {}

  // rdma_create_qp(3); without an id, ibv_create_qp(3). An errno, or 0.
  int Make(FakePd& domain, ibv_qp_init_attr& init, rdma_cm_id* id, FakeQp*& made);
  void End(FakeQp& qp);
  // Those that are not destroyed, oldest first.
  const std::vector<FakeQp*>& live() const { return live_; }
  // Destroyed or not; null: none has this number.
  const FakeQp* Find(uint32_t qp_num) const;

  // iWARP: the stream under these two ended. For the connection manager, which sets it.
  std::function<void(FakeQp& qp, FakeQp* peer)> on_stream_broken;

 private:
  FakeHost& host_;
  std::vector<std::unique_ptr<FakeQp>> all_;
  std::vector<FakeQp*> live_;
  uint32_t next_number_ = 0x11;
};

}  // namespace farcall

#endif  // FARCALL_TRANSPORT_RDMA_TESTING_FABRIC_QUEUES_FAKE_QP_TABLE_H_
