// SPDX-License-Identifier: Apache-2.0
//
// What the RDMA transport of a process tells of itself: plain values of one moment, for the
// status page, metrics and dumps. Counts are since the process began, also of devices that
// went away meanwhile.

#ifndef FARCALL_TRANSPORT_RDMA_STATUS_H_
#define FARCALL_TRANSPORT_RDMA_STATUS_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "transport/reads_use.h"
#include "transport/why_not_rdma.h"

namespace farcall {

struct NamedCount {
  std::string name;
  uint64_t count = 0;
};

// What the event loops did on one device.
struct RdmaTraffic {
  uint64_t connections = 0;  // now
  uint64_t connections_ever = 0;
  // Connections by the status of their first bad completion: the names of ibv_wc_status, as in
  // "retry_exc_err". "wr_flush_err" is also what an end in order leaves. None of zero.
  std::vector<NamedCount> breaks;
  uint64_t bytes_in = 0;  // without message headers
  uint64_t bytes_out = 0;
  uint64_t messages_in = 0;  // with those that only tell credits
  uint64_t messages_out = 0;
  uint64_t doorbells = 0;  // calls of ibv_post_send
  uint64_t completions = 0;
  // Times that a connection began to wait while it had bytes to send.
  uint64_t credit_waits = 0;  // for receives of the peer
  uint64_t slot_waits = 0;    // for its own send or completion queue
  uint64_t memory_waits = 0;  // for a block of the pool
  // Of the shared receive queues, now.
  uint64_t receive_slots = 0;
  uint64_t receives_posted = 0;
  uint64_t receives_promised = 0;  // of them, given to peers as credits
  uint64_t receives_lost = 0;      // that are, or may be, gone with queue pairs that had taken them
  // Queue pairs of which the device did not say, in time, that they gave up what they took. Ever.
  uint64_t silent_ends = 0;
};

struct RdmaPortStatus {
  int number = 0;  // from 1
  bool active = false;
  uint32_t mtu_bytes = 0;
  // Packets out of order, lost or sent again, by the names of the kernel's hw_counters; of all that
  // use the port. Empty where the kernel does not show them.
  std::vector<NamedCount> losses = {};
};

struct RdmaDeviceStatus {
  std::string name;
  std::string link_layer;               // "InfiniBand", "RoCE", "iWARP", "unknown"
  bool present = false;                 // as of the last look at the host's devices
  bool open = false;                    // its domain is allocated, and the pool registered with it
  WhyNotRdma why = WhyNotRdma::kInUse;  // kInUse: it may be used; else why not
  std::string why_detail;
  std::vector<RdmaPortStatus> ports;
  std::vector<std::string> addresses;  // GIDs of network interfaces; at most kMaxAddresses
  uint64_t queue_pairs = 0;            // now; being set up and ended too
  uint64_t queue_pairs_ever = 0;
  uint64_t loops = 0;     // that have a completion queue on it
  uint64_t removals = 0;  // times that it was taken away or failed while in use
  // By the names of ibv_event_type, as in "port_err". None of zero.
  std::vector<NamedCount> events;
  RdmaTraffic traffic;
  // Whether peers fetch from it; kMeasuring: each connection finds out.
  ReadsWhy reads = ReadsWhy::kNever;

  static constexpr size_t kMaxAddresses = 16;
};

// Of the pool's memory, with all devices.
struct RdmaMemoryStatus {
  uint64_t regions = 0;
  uint64_t region_bytes = 0;
  uint64_t registered_bytes = 0;    // of each device, added up
  uint64_t registrations = 0;       // calls of ibv_reg_mr that gave a region
  uint64_t failures = 0;            // that gave none; its blocks are copied when sent
  double registration_seconds = 0;  // that all of them took
  uint64_t relaxed_ordering = 0;    // of the registrations
};

struct RdmaStatus {
  // The control loop did in time; else only `memory` is known.
  bool answered = false;
  double answer_seconds = 0;            // how long it took until it looked
  bool looked = false;                  // for devices: RDMA was asked for
  WhyNotRdma why = WhyNotRdma::kInUse;  // why no device may be used; kInUse: one may
  std::string why_detail;
  uint64_t setups = 0;                    // dials and accepts under way
  uint64_t incoming_setups = 0;           // of them, those that peers began
  std::vector<RdmaDeviceStatus> devices;  // with those that are gone and were in use
  RdmaMemoryStatus memory;
};

}  // namespace farcall

#endif  // FARCALL_TRANSPORT_RDMA_STATUS_H_
