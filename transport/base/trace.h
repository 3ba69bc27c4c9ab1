// SPDX-License-Identifier: Apache-2.0
//
// Static probes for bpftrace, perf and SystemTap, provider "farcall": a nop each, and a note in
// the binary that names its place and where its arguments are. docs/operations.md shows how they
// are used. They are always there, and nothing is asked at run time.

#ifndef FARCALL_TRANSPORT_BASE_TRACE_H_
#define FARCALL_TRANSPORT_BASE_TRACE_H_

#include <sys/sdt.h>

#include <cstdint>

namespace farcall::trace {

// Work requests were posted to a send queue with one doorbell. `result`: of ibv_post_send(3).
inline void Post(uint32_t queue_pair, uint64_t messages, int result) {
  STAP_PROBE3(farcall, post, queue_pair, messages, result);
}

// A completion was taken from a completion queue. `status`: ibv_wc_status, 0 is success. `work`:
// its wr_id (transport/rdma/flow/wr_id.h).
inline void Completion(uint32_t queue_pair, int status, uint32_t vendor_error, uint64_t work) {
  STAP_PROBE4(farcall, completion, queue_pair, status, vendor_error, work);
}

// `given`: receives that the peer was given just now. `left`: messages that this end may send.
inline void Credit(uint32_t queue_pair, uint32_t given, uint32_t left) {
  STAP_PROBE3(farcall, credit, queue_pair, given, left);
}

// A connection sends on another link from now on: 0 is TCP, others are generations of RDMA.
// `connection`: the same for the life of one. `why`: WhyNotRdma (transport/why_not_rdma.h).
inline void Switch(const void* connection, uint32_t from, uint32_t to, int why) {
  STAP_PROBE4(farcall, switch, connection, from, to, why);
}

}  // namespace farcall::trace

#endif  // FARCALL_TRANSPORT_BASE_TRACE_H_
