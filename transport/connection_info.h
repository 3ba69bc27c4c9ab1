// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_TRANSPORT_CONNECTION_INFO_H_
#define FARCALL_TRANSPORT_CONNECTION_INFO_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "transport/address.h"
#include "transport/copied_bytes.h"
#include "transport/rail_ports.h"
#include "transport/reads_use.h"
#include "transport/why_not_rdma.h"

namespace farcall {

enum class TransportKind : uint8_t { kTcp, kRdma, kSimulated };
absl::string_view ToString(TransportKind kind);  // "tcp", "rdma", "simulated"

// The RDMA under one connection: of all queue pairs that it had.
struct RdmaUse {
  uint32_t generation = 0;  // of the queue pair that it sends on; 0: it sends on TCP
  uint32_t credits = 0;     // messages that the peer lets it send now
  // This end fetches what the peer refers to, by RDMA READ (RdmaOptions::read_at_least at both).
  bool fetches = false;
  // Whether the peer fetches from this end, and why.
  ReadsUse reads;
  uint64_t upgrades = 0;                          // times that this end went over to RDMA
  uint64_t fallbacks = 0;                         // times that it went back to TCP
  WhyNotRdma last_fallback = WhyNotRdma::kInUse;  // why; kInUse: it never did
  uint64_t messages_in = 0;
  uint64_t messages_out = 0;
  // Times that it began to wait while it had bytes to send.
  uint64_t credit_waits = 0;  // for receives of the peer
  uint64_t slot_waits = 0;    // for its own send or completion queue
  uint64_t memory_waits = 0;  // for a block of the pool
  uint64_t fetched = 0;       // bytes that came by RDMA READ

  void AddMessages(const RdmaUse& other) {
    messages_in += other.messages_in;
    messages_out += other.messages_out;
    credit_waits += other.credit_waits;
    slot_waits += other.slot_waits;
    memory_waits += other.memory_waits;
    fetched += other.fetched;
  }
};

// One of several RDMA connections that one connection sends on at the same time
// (RdmaOptions::rails).
struct RailInfo {
  uint32_t generation = 0;
  std::string device;
  uint32_t port = 0;       // of the device, from 1
  uint64_t bytes_out = 0;  // of the stream, given to it
  double share = 0;        // of those given to all that are there, 0 to 1
};

struct ConnectionInfo {
  Address local;
  Address peer;  // kNone for the client of a unix socket
  TransportKind transport = TransportKind::kTcp;
  // Frames of the link travel on it: it goes over to RDMA whenever that is to be had. Else it is
  // plain for as long as it lives.
  bool linked = false;
  WhyNotRdma why_not_rdma = WhyNotRdma::kNotAsked;
  // What Explain(why_not_rdma) does not know: names and numbers of this case. May be empty.
  std::string why_detail;
  std::string device;  // RDMA device, "" for sockets
  // Why this one, at the client, which chooses; "" for sockets.
  std::string device_why;
  uint32_t device_port = 0;
  // At the client, for its further rails (rail_ports.h); of sockets there is none.
  std::string peer_device;
  int fabric = kNoFabric;
  // How its queue pair was set up: "rdma_cm", "tcp" by messages on this connection, or "brpc" by
  // brpc's hellos on it; "" for sockets.
  std::string set_up;
  // What travels on RDMA: "brpc", plain bytes with brpc's credits, which neither goes back to TCP
  // nor fetches by RDMA READ, or "" between two ends of this library.
  std::string wire;
  // "TLSv1.3 TLS_AES_256_GCM_SHA384", "handshake" before that is known, "" without TLS. Of the TCP
  // connection: what RDMA carries beside it is not encrypted.
  std::string tls;
  // The subject of the peer's certificate, "/O=Example/CN=client"; "" if it showed none. It is
  // verified where this end verifies (ClientTlsOptions::verify, require_client_certificate).
  std::string tls_peer;
  uint64_t bytes_read = 0;
  uint64_t bytes_written = 0;  // handed to the kernel or the device
  uint64_t reads = 0;          // system calls or completions
  uint64_t writes = 0;
  // Of those bytes; kNotLanded is the calls' own and counted by the runtime alone.
  CopiedBytes copied;
  RdmaUse rdma;
  // What it sends on where several rails are agreed on, the oldest first.
  std::vector<RailInfo> rails;

  // For messages.
  std::string peer_name() const;
};

}  // namespace farcall

#endif  // FARCALL_TRANSPORT_CONNECTION_INFO_H_
