// SPDX-License-Identifier: Apache-2.0

#include "transport/rdma/testing/fabric/queues/fake_receive_queue.h"

#include <errno.h>

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "transport/rdma/testing/fabric/device/fake_host.h"

namespace farcall {

FakeReceiveQueue::FakeReceiveQueue(FakeHost& host, FakePd& domain, uint32_t max_receives,
                                   uint32_t max_ranges)
    : host_(host),
      domain_(domain),
      max_(max_receives),
      max_ranges_(std::max<uint32_t>(1, max_ranges)),
      ring_(max_receives),
      ranges_(static_cast<size_t>(max_receives) * max_ranges_) {}

int FakeReceiveQueue::Post(const ibv_recv_wr& request) {
  if (request.num_sge < 0 || static_cast<uint32_t>(request.num_sge) > max_ranges_) return EINVAL;
  if (posted_ - freed_ >= max_) return ENOMEM;
  FakeReceive& receive = ring_[posted_ % max_];
  ibv_sge* const ranges = RangesAt(posted_);
  receive.wr_id = request.wr_id;
  receive.ranges = ranges;
  receive.count = request.num_sge;
  receive.bytes = 0;
  for (int i = 0; i < request.num_sge; ++i) {
    ranges[i] = request.sg_list[i];
    receive.bytes += ranges[i].length;
  }
  const char* const why = host_.memory.WhyNot(domain_, ranges, receive.count, /*write=*/true);
  receive.usable = why == nullptr;
  if (why != nullptr) host_.Violation(absl::StrCat("a receive was posted with ", why));
  if (host_.options.check_memory && receive.usable) {
    receive.fingerprint = FingerprintOfEnds(ranges, receive.count);
  }
  ++posted_;
  ++domain_.owner.owner.counters.receives_posted;
  return 0;
}

FakeReceive FakeReceiveQueue::Take() {
  const FakeReceive receive = ring_[taken_++ % max_];
  if (host_.options.check_memory && receive.usable &&
      FingerprintOfEnds(receive.ranges, receive.count) != receive.fingerprint) {
    host_.Violation("the bytes of a posted receive were touched");
  }
  return receive;
}

bool FakeReceiveQueue::Holds(const FakeMr& region) const {
  for (uint64_t at = taken_; at < posted_; ++at) {
    const FakeReceive& receive = ring_[at % max_];
    if (receive.usable && Uses(region, receive.ranges, receive.count)) return true;
  }
  return false;
}

void FakeReceiveQueue::Clear() {
  taken_ = posted_;
  ring_ = {};
  ranges_ = {};
  waiting.clear();
}

FakeSrq::FakeSrq(FakePd& fake_pd, const ibv_srq_init_attr& attr)
    : ibv_srq{},
      domain(fake_pd),
      receives(fake_pd.owner.host, fake_pd, attr.attr.max_wr, attr.attr.max_sge) {
  context = fake_pd.context;
  srq_context = attr.srq_context;
  pd = &fake_pd;
  ++domain.users;
}

}  // namespace farcall
