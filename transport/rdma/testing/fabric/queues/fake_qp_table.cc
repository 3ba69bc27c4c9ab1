// SPDX-License-Identifier: Apache-2.0

#include "transport/rdma/testing/fabric/queues/fake_qp_table.h"

#include <errno.h>

#include <algorithm>
#include <utility>

#include "transport/rdma/testing/fabric/device/fake_host.h"

namespace farcall {

int FakeQpTable::Make(FakePd& domain, ibv_qp_init_attr& init, rdma_cm_id* id, FakeQp*& made) {
  if (domain.owner.dead) return EIO;
  if (domain.destroyed || static_cast<FakeCq*>(init.send_cq)->destroyed ||
      static_cast<FakeCq*>(init.recv_cq)->destroyed ||
      (init.srq != nullptr && static_cast<FakeSrq*>(init.srq)->destroyed)) {
    host_.Violation("a queue pair is created with something that is destroyed");
    return EINVAL;
  }
  if (init.send_cq->context != &domain.owner || init.recv_cq->context != &domain.owner) {
    return EINVAL;
  }
  const FakeDeviceOptions& device = domain.owner.owner.options;
  const ibv_qp_cap& cap = init.cap;
  const auto most = static_cast<uint32_t>(std::min(device.max_qp_wr, device.real_max_qp_wr));
  const uint32_t most_ranges = static_cast<uint32_t>(device.max_sge);
  if (cap.max_send_wr > most || cap.max_send_sge > most_ranges ||
      cap.max_inline_data > static_cast<uint32_t>(device.max_inline_data)) {
    return EINVAL;
  }
  if (init.srq == nullptr && (cap.max_recv_wr > most || cap.max_recv_sge > most_ranges)) {
    return EINVAL;
  }
  const auto on_device = std::count_if(live_.begin(), live_.end(), [&](const FakeQp* qp) {
    return &qp->device() == &domain.owner.owner;
  });
  if (on_device >= device.max_qp) return ENOMEM;
  const uint32_t number = next_number_;
  // Not one after the other: what takes qp_num for an index fails.
  next_number_ += 0x11;
  auto qp = std::make_unique<FakeQp>(*this, id, domain, init, number);
  live_.push_back(qp.get());
  made = qp.get();
  all_.push_back(std::move(qp));
  return 0;
}

void FakeQpTable::End(FakeQp& qp) {
  if (qp.events_taken != qp.events_acknowledged) {
    host_.Violation(
        "a queue pair is destroyed with an asynchronous event that is not acknowledged");
  }
  qp.Destroy();
  std::erase(live_, &qp);
}

const FakeQp* FakeQpTable::Find(uint32_t qp_num) const {
  for (const auto& qp : all_) {
    if (qp->qp_num == qp_num) return qp.get();
  }
  return nullptr;
}

}  // namespace farcall
