// SPDX-License-Identifier: Apache-2.0

#include "transport/rdma/testing/fabric/queues/fake_completion_queue.h"

#include <string.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "transport/rdma/testing/fabric/device/fake_host.h"
#include "transport/rdma/testing/fabric/queues/fake_queue_pair.h"
#include "transport/rdma/testing/fabric/queues/fake_receive_queue.h"

namespace farcall {
namespace {

// Fields that the man page of ibv_poll_cq(3) leaves undefined hold rubbish.
constexpr int kRubbish = 0xa5;

void Fill(const FakeCompletion& from, ibv_wc& to) {
  memset(&to, kRubbish, sizeof(to));
  to.wr_id = from.wr_id;
  to.status = from.status;
  to.vendor_err = from.vendor_error;
  to.qp_num = from.qp_num;
  // Rubbish, too, but a value of its type.
  to.opcode = IBV_WC_TM_NO_TAG;
  if (from.status != IBV_WC_SUCCESS) return;
  to.opcode = from.opcode;
  to.wc_flags = from.flags;
  if (from.opcode != IBV_WC_RECV) return;
  to.byte_len = from.byte_len;
  to.src_qp = from.src_qp;
  if ((from.flags & IBV_WC_WITH_IMM) != 0) to.imm_data = from.imm_data;
}

}  // namespace

FakeCompChannel::FakeCompChannel(FakeContext& fake_context)
    : ibv_comp_channel{}, owner(fake_context) {
  context = &fake_context;
  fd = events.fd();
  ++owner.objects;
}

FakeCq::FakeCq(FakeContext& fake_context, int entries, void* user, FakeCompChannel* fake_channel)
    : ibv_cq{}, owner(fake_context), events_to(fake_channel) {
  context = &fake_context;
  channel = fake_channel;
  cq_context = user;
  cqe = entries;
  ring_.resize(std::min<size_t>(static_cast<size_t>(entries), 64));
  ++owner.objects;
  if (fake_channel != nullptr) ++fake_channel->refcnt;
}

void FakeCq::Push(const FakeCompletion& completion) {
  FakeCounters& counters = owner.owner.counters;
  ++(completion.sender != nullptr ? counters.send_completions : counters.receive_completions);
  const bool error = completion.status != IBV_WC_SUCCESS;
  if (count_ == ring_.size()) {
    if (count_ == static_cast<size_t>(cqe)) {
      owner.host.Violation("a completion queue overflowed");
      return;
    }
    std::rotate(ring_.begin(), ring_.begin() + static_cast<ptrdiff_t>(first_), ring_.end());
    first_ = 0;
    ring_.resize(std::min(ring_.size() * 2, static_cast<size_t>(cqe)));
  }
  ++count_;
  At(count_ - 1) = completion;
  if (!armed_ || (solicited_only_ && !completion.solicited && !error)) return;
  armed_ = false;
  if (events_to == nullptr) return;
  ++counters.completion_events;
  events_to->events.Push(this);
}

FakeCompletion& FakeCq::At(size_t place) {
  const size_t at = first_ + place;
  return ring_[at < ring_.size() ? at : at - ring_.size()];
}

void FakeCq::Shuffle() {
  const auto of_one_queue = [](const FakeCompletion& a, const FakeCompletion& b) {
    return a.qp_num == b.qp_num && (a.sender == nullptr) == (b.sender == nullptr);
  };
  // Those that no other of their queue is before.
  std::vector<size_t> heads;
  for (size_t place = 0; place < count_; ++place) {
    const bool behind = std::any_of(heads.begin(), heads.end(),
                                    [&](size_t head) { return of_one_queue(At(head), At(place)); });
    if (!behind) heads.push_back(place);
  }
  for (size_t place = heads[owner.host.random.Below(heads.size())]; place > 0; --place) {
    std::swap(At(place), At(place - 1));
  }
}

FakeCompletion FakeCq::Take() {
  if (owner.host.options.shuffle_completions) Shuffle();
  const FakeCompletion completion = ring_[first_];
  if (++first_ == ring_.size()) first_ = 0;
  --count_;
  if (completion.sender != nullptr) {
    completion.sender->OnPolled(completion.position);
  } else {
    completion.receives->OnPolled();
  }
  return completion;
}

int FakeCq::Poll(int count, ibv_wc* to) {
  int taken = 0;
  for (; taken < count && count_ > 0; ++taken) Fill(Take(), to[taken]);
  return taken;
}

void FakeCq::Arm(bool solicited_only) {
  // A weaker request does not undo a stronger one.
  solicited_only_ = solicited_only && (!armed_ || solicited_only_);
  armed_ = true;
}

void FakeCq::Drop() {
  while (count_ > 0) Take();
  ring_.clear();
}

}  // namespace farcall
