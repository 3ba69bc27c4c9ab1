// SPDX-License-Identifier: Apache-2.0
//
// What a queue pair does with memory windows, and with RDMA READ.

#include <string.h>

#include <string>

#include "absl/strings/str_cat.h"
#include "transport/rdma/testing/fabric/device/fake_host.h"
#include "transport/rdma/testing/fabric/queues/fake_queue_pair.h"

namespace farcall {
namespace {

// What was read goes into the ranges, which are as long in sum.
void Spread(const std::string& from, const FakeSend& send) {
  size_t done = 0;
  for (int i = 0; i < send.count; ++i) {
    memcpy(MemoryAt(send.ranges[i].addr), from.data() + done, send.ranges[i].length);
    done += send.ranges[i].length;
  }
}

}  // namespace

void FakeQp::RunLocal(FakeSend& send) {
  const bool bind = send.opcode == IBV_WR_BIND_MW;
  const FakeDeviceOptions& options = device().options;
  if (bind && (options.binds_fail || (options.binds_again && sends_.asking()))) {
    if (AnswerAll()) FailOldest(IBV_WC_MW_BIND_ERR, 0);
    return;
  }
  const char* const why = bind ? host_.memory.Bind(*this, domain_, send.bind)
                               : host_.memory.Invalidate(*this, send.remote_key);
  if (why == nullptr) {
    if (bind) ++device().counters.binds;
    ++sends_.sent;
    return;
  }
  host_.Violation(absl::StrCat(bind ? "a bind of " : "an invalidation of ", why));
  if (AnswerAll()) FailOldest(bind ? IBV_WC_MW_BIND_ERR : IBV_WC_LOC_PROT_ERR, 0);
}

// The peer's memory is read now; what it held comes with the answer.
void FakeQp::Ask(FakeSend& send) {
  FakeQp& peer = *peer_;
  ++device().counters.reads;
  const bool too_many = asking_ >= peer.answers_;
  const bool refused = (peer.access_ & IBV_ACCESS_REMOTE_READ) == 0;
  if (too_many || refused ||
      host_.memory.WhyNotRemote(peer, send.remote_key, send.remote_address, send.bytes) !=
          nullptr) {
    if (AnswerAll()) FailOldest(too_many ? IBV_WC_REM_INV_REQ_ERR : IBV_WC_REM_ACCESS_ERR, 0);
    return peer.Break();
  }
  send.read.assign(MemoryAt(send.remote_address), send.bytes);
  send.delivered = true;
  ++asking_;
  ++sends_.sent;
}

void FakeQp::TakeAnswer(FakeSend& send) {
  --asking_;
  if (send.outcome == IBV_WC_SUCCESS) Spread(send.read, send);
  send.read.clear();
}

// An answer that was under way when the queue pair broke may be written until the READ completes,
// or the queue pair is destroyed: that late it is.
void FakeQp::WriteLate(FakeSend& send) {
  if (send.opcode != IBV_WR_RDMA_READ || send.read.empty()) return;
  Spread(send.read, send);
  send.read.clear();
}

}  // namespace farcall
