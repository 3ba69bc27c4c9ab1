// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_TRANSPORT_RDMA_TESTING_FABRIC_DEVICE_FAKE_OPTIONS_H_
#define FARCALL_TRANSPORT_RDMA_TESTING_FABRIC_DEVICE_FAKE_OPTIONS_H_

#include <infiniband/verbs.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace farcall {

// What kind of device it plays; only devices of one kind reach each other.
enum class FakeLink { kRoce, kInfiniBand, kIwarp };

struct FakeDeviceOptions {
  std::string name = {};
  // IPv4 or IPv6 addresses of its network interface, as text without a port.
  std::vector<std::string> addresses = {};
  FakeLink link = FakeLink::kRoce;
  bool port_active = true;
  // False: ibv_open_device fails with EACCES, as without permission for /dev/infiniband.
  bool permitted = true;
  ibv_mtu active_mtu = IBV_MTU_4096;
  uint8_t active_speed = 32;  // of ibv_query_port(3): 25 Gb/s for each of 4 pollers
  // Of its network interface; 0: that is in another network namespace.
  uint32_t ifindex = 2;

  // The keys of its port.
  std::vector<uint16_t> partitions = {0xffff};

  uint32_t vendor_id = 0x15b3;

  // What it offers; asking for more is EINVAL or ENOMEM as with real drivers.
  int max_qp = 100'000;
  int max_qp_wr = 16'384;
  int real_max_qp_wr = 1 << 30;  // what rdma_create_qp takes, if less
  int max_sge = 16;
  int max_sge_rd = 16;  // of RDMA READs
  int max_cqe = 1 << 22;
  int max_srq = 1'000;  // 0: has no shared receive queues (EOPNOTSUPP)
  int max_srq_wr = 32'767;
  int max_srq_sge = 16;
  int max_inline_data = 256;
  int num_comp_vectors = 4;
  // Memory windows of type 2B; 0: it has none.
  int max_mw = 100'000;
  bool binds_fail = false;  // IBV_WC_MW_BIND_ERR
  // The same for a bind that is done while what was posted before it is unanswered: as though
  // that were sent again, by a device that does binds again then.
  bool binds_again = false;
  bool refuses_mw_bind = false;  // EOPNOTSUPP of ibv_reg_mr with IBV_ACCESS_MW_BIND
  // RDMA READs that a queue pair answers, and begins, at once.
  int max_qp_rd_atom = 16;
  int max_qp_init_rd_atom = 16;
  // Bytes that may be registered, in sum; more is ENOMEM, as with RLIMIT_MEMLOCK.
  uint64_t memlock = UINT64_MAX;

  // Whether what is posted completes (WR_FLUSH_ERR) when its queue pair is put into error.
  bool flushes = true;
  // IBV_EVENT_QP_LAST_WQE_REACHED when a queue pair with a shared receive queue errs.
  bool last_wqe_events = true;
  // Receives that a connected queue pair takes from its shared queue ahead of need: when it
  // errs they are flushed, before that event.
  uint32_t receives_ahead = 2;
  // Whoever has waited for that event for so long may destroy the queue pair without: the time of
  // QueuePair, which loops measure by the clock, and so not in calls of Step().
  std::chrono::nanoseconds last_wqe_patience = std::chrono::seconds(1);
};

// The kernel's rxe: where it differs, and how it is known.
inline void PlaySoftRoce(FakeDeviceOptions& device) {
  device.vendor_id = 0xffffff;
  device.binds_again = true;
  device.last_wqe_events = false;
  device.receives_ahead = 0;
}

enum class FakeMode {
  // Posting delivers at once, in the caller's thread: for threads and benchmarks.
  // Only what is late (retries, time-outs, delays) waits for Step().
  kImmediate,
  // Nothing moves until Step(); what moves next follows from the seed.
  kStepped,
};

struct FakeFabricOptions {
  FakeMode mode = FakeMode::kImmediate;
  uint64_t seed = 1;
  std::vector<FakeDeviceOptions> devices = {
      {.name = "fakeA", .addresses = {"10.9.0.1", "fd09::1"}},
      {.name = "fakeB", .addresses = {"10.9.0.2", "fd09::2"}},
  };
  // Watches the bytes of posted sends and receives. Reads each message twice more:
  // switch it off to count instructions.
  bool check_memory = true;
  // A completion queue gives, of what is in it, what the seed says: in order for the sends of a
  // queue pair and for its receives, in any order else: none is promised between work queues.
  bool shuffle_completions = false;

  // Time is the number of calls of Step().
  // After so many steps a sender gives up on a peer that does not answer (RETRY_EXC_ERR),
  // and the connection manager on a lost message (UNREACHABLE).
  uint64_t retry_steps = 16;
  uint64_t connect_steps = 24;
  // Between two tries after receiver-not-ready.
  uint64_t rnr_steps = 2;
};

// Of one device, since the fabric began.
struct FakeCounters {
  uint64_t doorbells = 0;     // calls of ibv_post_send
  uint64_t sends_posted = 0;  // work requests
  uint64_t inline_sends = 0;  // of them
  uint64_t signaled_sends = 0;
  uint64_t receives_posted = 0;
  uint64_t receive_doorbells = 0;  // calls of ibv_post_recv and ibv_post_srq_recv
  uint64_t messages_out = 0;       // delivered
  uint64_t bytes_out = 0;
  uint64_t messages_in = 0;
  uint64_t bytes_in = 0;
  uint64_t send_completions = 0;  // put into completion queues
  uint64_t receive_completions = 0;
  uint64_t rnrs = 0;  // messages that found no receive, at the receiver
  uint64_t completion_events = 0;
  uint64_t reads = 0;          // RDMA READs begun
  uint64_t reads_at_once = 0;  // of a queue pair, posted and not completed, at most
  uint64_t binds = 0;          // windows bound
  uint64_t windows = 0;        // now
  uint64_t registrations = 0;
  uint64_t registered_bytes = 0;  // now
  uint64_t remote_regions = 0;    // registered with access for the peer
};

}  // namespace farcall

#endif  // FARCALL_TRANSPORT_RDMA_TESTING_FABRIC_DEVICE_FAKE_OPTIONS_H_
