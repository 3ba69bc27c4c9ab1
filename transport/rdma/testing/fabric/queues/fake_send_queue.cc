// SPDX-License-Identifier: Apache-2.0

#include "transport/rdma/testing/fabric/queues/fake_send_queue.h"

#include <errno.h>
#include <string.h>

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "transport/rdma/testing/fabric/device/fake_host.h"

namespace farcall {

FakeSendQueue::FakeSendQueue(FakeHost& host, FakePd& domain, const ibv_qp_cap& cap)
    : host_(host),
      domain_(domain),
      max_(cap.max_send_wr),
      max_ranges_(std::max<uint32_t>(1, cap.max_send_sge)),
      max_inline_(cap.max_inline_data),
      ring_(max_),
      ranges_(static_cast<size_t>(max_) * max_ranges_),
      inline_bytes_(static_cast<size_t>(max_) * max_inline_) {}

int FakeSendQueue::Post(const ibv_send_wr& request, bool signaled) {
  if (request.num_sge < 0 || static_cast<uint32_t>(request.num_sge) > max_ranges_) return EINVAL;
  if (posted_ - freed_ >= max_) return ENOMEM;
  FakeSend send;
  send.wr_id = request.wr_id;
  send.opcode = request.opcode;
  if (request.opcode == IBV_WR_BIND_MW) {
    const ibv_mw_bind_info& info = request.bind_mw.bind_info;
    send.bind = {.window = static_cast<FakeMw*>(request.bind_mw.mw),
                 .region = static_cast<const FakeMr*>(info.mr),
                 .old_key = request.bind_mw.mw->rkey,
                 .key = request.bind_mw.rkey,
                 .address = info.addr,
                 .length = info.length,
                 .access = info.mw_access_flags};
  } else if (request.opcode == IBV_WR_LOCAL_INV) {
    send.remote_key = request.invalidate_rkey;
  } else if (request.opcode == IBV_WR_RDMA_READ) {
    send.remote_key = request.wr.rdma.rkey;
    send.remote_address = request.wr.rdma.remote_addr;
  }
  send.with_imm = request.opcode == IBV_WR_SEND_WITH_IMM;
  if (send.with_imm) send.imm_data = request.imm_data;
  send.signaled = signaled;
  send.solicited = (request.send_flags & IBV_SEND_SOLICITED) != 0;
  send.inlined = (request.send_flags & IBV_SEND_INLINE) != 0;
  send.ranges = &ranges_[(posted_ % max_) * max_ranges_];
  uint64_t bytes = 0;
  for (int i = 0; i < request.num_sge; ++i) bytes += request.sg_list[i].length;
  if (bytes > kFakeMaxMessage || (send.inlined && bytes > max_inline_)) return EINVAL;
  send.bytes = static_cast<uint32_t>(bytes);
  if (send.inlined) {
    StoreInline(request, send);
  } else {
    StoreRanges(request, send);
  }
  ring_[posted_++ % max_] = send;
  return 0;
}

void FakeSendQueue::StoreInline(const ibv_send_wr& request, FakeSend& send) {
  if (send.bytes == 0) return;
  char* const bytes = &inline_bytes_[(posted_ % max_) * max_inline_];
  char* to = bytes;
  for (int i = 0; i < request.num_sge; ++i) {
    memcpy(to, MemoryAt(request.sg_list[i].addr), request.sg_list[i].length);
    to += request.sg_list[i].length;
  }
  ranges_[(posted_ % max_) * max_ranges_] = {reinterpret_cast<uint64_t>(bytes), send.bytes, 0};
  send.count = 1;
}

void FakeSendQueue::StoreRanges(const ibv_send_wr& request, FakeSend& send) {
  std::copy(request.sg_list, request.sg_list + request.num_sge,
            &ranges_[(posted_ % max_) * max_ranges_]);
  send.count = request.num_sge;
  if (const char* why =
          host_.memory.WhyNot(domain_, send.ranges, send.count, send.opcode == IBV_WR_RDMA_READ)) {
    host_.Violation(absl::StrCat("a send was posted with ", why));
    send.outcome = IBV_WC_LOC_PROT_ERR;
    return;
  }
  if (host_.options.check_memory && send.message())
    send.fingerprint = Fingerprint(send.ranges, send.count);
}

void FakeSendQueue::CheckUnchanged(const FakeSend& send) const {
  if (send.inlined || !send.message() || !host_.options.check_memory) return;
  if (Fingerprint(send.ranges, send.count) != send.fingerprint) {
    host_.Violation("the bytes of a send changed before its completion was polled");
  }
}

void FakeSendQueue::OnPolled(uint64_t position) {
  if (ring_.empty()) return;  // destroyed meanwhile
  for (; freed_ <= position; ++freed_) {
    const FakeSend& send = At(freed_);
    // A device that flushed it reads it no more.
    if (send.delivered) CheckUnchanged(send);
  }
}

bool FakeSendQueue::asking() const {
  for (uint64_t at = completed; at < sent; ++at) {
    if (ring_[at % max_].needs_peer()) return true;
  }
  return false;
}

bool FakeSendQueue::Holds(const FakeMr& region) const {
  for (uint64_t at = freed_; at < posted_; ++at) {
    const FakeSend& send = ring_[at % max_];
    if (send.bind.region == &region) return true;
    if (!send.inlined && send.outcome != IBV_WC_LOC_PROT_ERR &&
        Uses(region, send.ranges, send.count)) {
      return true;
    }
  }
  return false;
}

void FakeSendQueue::Clear() {
  sent = completed = freed_ = posted_;
  ring_ = {};
  ranges_ = {};
  inline_bytes_ = {};
}

}  // namespace farcall
