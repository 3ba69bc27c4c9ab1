// SPDX-License-Identifier: Apache-2.0

#include <errno.h>

#include <utility>

#include "transport/rdma/testing/fabric/fake_api.h"

namespace farcall {
namespace {

// As ibv_post_*(3): what comes before the bad one stays posted.
template <typename Request, typename Post>
int PostAll(Request* requests, Request** bad, Post post) {
  for (Request* request = requests; request != nullptr; request = request->next) {
    if (const int error = post(*request); error != 0) {
      *bad = request;
      return error;
    }
  }
  return 0;
}

void WakeSenders(FakeReceiveQueue& queue) {
  if (queue.waiting.empty()) [[likely]] {
    return;
  }
  const std::vector<FakeQp*> senders = std::exchange(queue.waiting, {});
  for (FakeQp* sender : senders) sender->OnReceivePosted();
}

// The driver siw gives negative ones.
int ErrnoOf(const FakeDevice& device, int error) { return device.iwarp() ? -error : error; }

// Errors that hold for the whole call.
template <typename Request>
int Refuse(FakeHost& host, const char* name, bool destroyed, Request* requests, Request** bad) {
  int error = host.plan.Enter(name);
  if (destroyed) {
    host.Violation(std::string(name) + " to what is destroyed");
    error = EINVAL;
  }
  if (error != 0) *bad = requests;
  return error;
}

int FakePostSend(ibv_qp* qp, ibv_send_wr* requests, ibv_send_wr** bad) {
  FakeQp& fake = *static_cast<FakeQp*>(qp);
  FakeWorld& world = WorldOf(fake.owner());
  std::lock_guard lock(world.mutex);
  if (const int error = Refuse(world, "ibv_post_send", fake.destroyed(), requests, bad)) {
    return error;
  }
  ++fake.device().counters.doorbells;
  if (qp->state != IBV_QPS_RTS && qp->state != IBV_QPS_ERR) {
    *bad = requests;
    return EINVAL;
  }
  const int error =
      PostAll(requests, bad, [&](const ibv_send_wr& request) { return fake.PostSend(request); });
  fake.Pump();
  world.cm.Pump();
  return ErrnoOf(fake.device(), error);
}

int FakePostRecv(ibv_qp* qp, ibv_recv_wr* requests, ibv_recv_wr** bad) {
  FakeQp& fake = *static_cast<FakeQp*>(qp);
  FakeWorld& world = WorldOf(fake.owner());
  std::lock_guard lock(world.mutex);
  if (const int error = Refuse(world, "ibv_post_recv", fake.destroyed(), requests, bad)) {
    return error;
  }
  ++fake.device().counters.receive_doorbells;
  const int error =
      PostAll(requests, bad, [&](const ibv_recv_wr& request) { return fake.PostReceive(request); });
  fake.Pump();
  WakeSenders(fake.own_receives());
  world.cm.Pump();
  return ErrnoOf(fake.device(), error);
}

int FakePostSrqRecv(ibv_srq* srq, ibv_recv_wr* requests, ibv_recv_wr** bad) {
  FakeSrq& fake = *static_cast<FakeSrq*>(srq);
  FakeHost& host = fake.domain.owner.host;
  std::lock_guard lock(host.mutex);
  if (const int error = Refuse(host, "ibv_post_srq_recv", fake.destroyed, requests, bad)) {
    return error;
  }
  ++fake.domain.owner.owner.counters.receive_doorbells;
  const int error = PostAll(
      requests, bad, [&](const ibv_recv_wr& request) { return fake.receives.Post(request); });
  WakeSenders(fake.receives);
  return ErrnoOf(fake.domain.owner.owner, error);
}

int FakePollCq(ibv_cq* cq, int count, ibv_wc* to) {
  FakeCq& fake = *static_cast<FakeCq*>(cq);
  FakeHost& host = fake.owner.host;
  std::lock_guard lock(host.mutex);
  if (host.plan.Enter("ibv_poll_cq") != 0) return -1;
  if (fake.destroyed) {
    host.Violation("ibv_poll_cq of a queue that is destroyed");
    return -1;
  }
  return fake.Poll(count, to);
}

int FakeReqNotifyCq(ibv_cq* cq, int solicited_only) {
  FakeCq& fake = *static_cast<FakeCq*>(cq);
  FakeHost& host = fake.owner.host;
  std::lock_guard lock(host.mutex);
  if (const int error = host.plan.Enter("ibv_req_notify_cq"); error != 0) return error;
  if (fake.destroyed) {
    host.Violation("ibv_req_notify_cq of a queue that is destroyed");
    return EINVAL;
  }
  fake.Arm(solicited_only != 0);
  return 0;
}

ibv_mw* FakeAllocMw(ibv_pd* pd, ibv_mw_type type) {
  FakePd& domain = *static_cast<FakePd*>(pd);
  FakeHost& host = domain.owner.host;
  std::lock_guard lock(host.mutex);
  FakeDevice& device = domain.owner.owner;
  int error = host.plan.Enter("ibv_alloc_mw");
  if (error == 0 && domain.owner.dead) error = EIO;
  if (error == 0 && device.options.max_mw == 0) error = EOPNOTSUPP;
  if (error == 0 && type != IBV_MW_TYPE_2) error = EINVAL;
  if (error == 0 && device.counters.windows >= static_cast<uint64_t>(device.options.max_mw)) {
    error = ENOMEM;
  }
  if (error != 0) {
    errno = error;
    return nullptr;
  }
  ++device.counters.windows;
  return &host.memory.AddWindow(domain);
}

int FakeDeallocMw(ibv_mw* mw) {
  FakeMw& window = *static_cast<FakeMw*>(mw);
  FakeHost& host = window.domain.owner.host;
  std::lock_guard lock(host.mutex);
  if (const int error = host.plan.EnterUncounted("ibv_dealloc_mw"); error != 0) return error;
  if (window.destroyed) {
    host.Violation("ibv_dealloc_mw twice");
    return EINVAL;
  }
  window.destroyed = true;
  --window.domain.users;
  --window.domain.owner.owner.counters.windows;
  return 0;
}

}  // namespace

ibv_context_ops FakeDataPath() {
  ibv_context_ops ops{};
  ops.alloc_mw = FakeAllocMw;
  ops.dealloc_mw = FakeDeallocMw;
  ops.post_send = FakePostSend;
  ops.post_recv = FakePostRecv;
  ops.post_srq_recv = FakePostSrqRecv;
  ops.poll_cq = FakePollCq;
  ops.req_notify_cq = FakeReqNotifyCq;
  return ops;
}

}  // namespace farcall
