// SPDX-License-Identifier: Apache-2.0
//
// RdmaOptions: what can be set about RDMA connections, with its bounds and where they
// come from.

#ifndef FARCALL_TRANSPORT_RDMA_OPTIONS_H_
#define FARCALL_TRANSPORT_RDMA_OPTIONS_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "transport/base/time.h"
#include "transport/buffer/block_pool.h"
#include "transport/reads_use.h"

namespace farcall {

// Posted receives are blocks of this size, and no message is longer.
constexpr uint32_t kReceiveBlock = BlockPool::kMedium;
// The least number of sends, and of receives, that a connection has: one of each is kept
// for a bare count of credits, and the others must keep a stream going.
constexpr uint32_t kMinSlots = 4;
constexpr uint32_t kMaxSlots = 16'384;

// How queue pairs are set up.
enum class RdmaSetUp : uint8_t {
  kAuto,    // by rdma_cm where an address leads to a device, else over TCP
  kRdmaCm,  // by rdma_cm(7) only
  // By messages on the TCP connection only: needs no address of the device in this network
  // namespace. Not with iWARP.
  kOverTcp,
};

absl::string_view ToString(RdmaSetUp set_up);  // "auto", "rdma_cm", "tcp"

struct OptionField;  // transport/base/option_field.h

struct RdmaOptions {
  // --- Which devices and addresses.

  // Names, as `rdma link` and ibv_devices(1) tell them: only these. Empty: all.
  std::vector<std::string> devices;
  // IP addresses, without port, at which a server offers itself. Empty: all addresses of
  // its devices.
  std::vector<std::string> addresses;
  // A file with the annotation k8s.v1.cni.cncf.io/network-status of this pod, which Multus writes
  // and the downward API gives: of its addresses, a server offers those of networks beside the
  // default one, if they have RDMA, and else all. Empty: no file.
  std::string network_status;
  // Both ends must allow what is used; the client chooses.
  RdmaSetUp set_up = RdmaSetUp::kAuto;
  // Of set-up over TCP; with rdma_cm the subnet manager and the interface of IP over InfiniBand
  // say both. The service level of packets, ibv_modify_qp(3): the client's counts at both
  // ends. 0 to 15; RoCE: the priority in VLAN tags, 0 to 7.
  uint8_t service_level = 0;
  // InfiniBand's partition, with or without the bit of full members (0x8000): adapters whose ports
  // do not have it are not used. 0: the first of each port.
  uint16_t partition_key = 0;
  // The RDMA port that a server listens on (RDMA_PS_TCP, a space of its own beside TCP's;
  // but iWARP shares it). 0: one that the kernel chooses.
  uint16_t listen_port = 0;

  // RDMA connections that one connection to a server uses at the same time, over different adapters
  // of both ends where they can, else over the same: the client's choice, if the server knows of
  // several. Large bytes are spread over them; small ones stay on one. 1 to 8. 0: as many as there
  // are adapters, each over ports of its own at both ends; those that come later are used, too.
  uint32_t rails = 1;

  // --- Queues. What a device has less of is clipped to what it has.

  // Sends in flight on one connection. kMinSlots to kMaxSlots.
  uint32_t send_slots = 64;
  // Most receives that one connection is given credit for. kMinSlots to kMaxSlots.
  uint32_t receive_slots = 64;
  // Receives posted for all connections of one loop and device at first: each a block of
  // 64 KiB, so 32 MiB by default. 16 to kMaxSlots; at least receive_slots.
  uint32_t shared_receives = 512;
  // The most that they become, as connections come and use them, as long as half of the block
  // pool is free; with fewer connections they become fewer. The device has its queue for so
  // many from the beginning. 16 to kMaxSlots; less than shared_receives means those.
  uint32_t max_shared_receives = 4096;
  // Entries of the completion queue of one loop and device. 256 to 4,194,304 (the most that
  // any device of rdma-core has), and room for one connection.
  uint32_t completion_queue_depth = 32'768;
  // Bytes that are sent out of the work request and need no registered memory. Asked for;
  // where a device refuses, less is taken. 0 to 1024.
  uint32_t max_inline = 220;
  // Pieces of memory that one message is gathered from. 2 to 64: its header is one.
  uint32_t max_send_segments = 16;

  // --- Time, and what is done about loss. All of rdma_connect(3) and ibv_modify_qp(3).

  // How often a packet is sent again before the connection is given up. 0 to 6: the field
  // has 3 bits, and rxe takes 7 for ever.
  uint8_t retry_count = 6;
  // After 4.096 us << ack_timeout without an acknowledgement a packet counts as lost; local,
  // so set at both ends. 8 (1 ms) to 22 (17 s), of a field of 5 bits. The default is 268 ms:
  // at most 2 to 8 seconds with all retries, and out of the way of a busy switch.
  uint8_t ack_timeout = 16;
  // How often a message is sent again that met no posted receive. Credits make that a bug,
  // which is survived: 7, for ever. 0 to 7.
  uint8_t rnr_retry = 7;
  // How long the peer waits before that: the code of ibv_modify_qp(3), 1 (0.01 ms) to 31
  // (491 ms). 12 is 0.64 ms; rdma_cm's own is 0, 655 ms.
  uint8_t min_rnr_timer = 12;
  // Each step of setting up: address, route, connect. 10 ms to 60 s.
  Duration connect_timeout = std::chrono::seconds(3);

  // --- Memory.

  // A message of fewer bytes is copied out of its receive block, and the block is posted
  // again, so that small messages pin nothing. While more than half of the pool is in use, so is
  // one of less than half of kReceiveBlock. 0 to kReceiveBlock.
  uint32_t copy_out_below = kReceiveBlock / 4;
  // IBV_ACCESS_RELAXED_ORDERING of ibv_reg_mr(3) where the device takes it: PCIe may reorder
  // the writes of one message, but the completion still comes last.
  bool relaxed_ordering = true;

  // --- Large bytes that the peer fetches.

  // Of a piece of registered memory with at least so many bytes, only where it lies is sent: the
  // peer fetches it by RDMA READ, into where it shall be if that is known there (PlaceFor in
  // transport.h). What opens it to the peer is a memory window of type 2 on just these bytes, for
  // as long as that takes; where either device has none, or the other end does not have this
  // set, it is sent as other bytes are. 0 (kReadNever): never, and nothing is fetched. 4 to 64 KiB.
  // kReadAuto ("auto"): from 64 KiB on, on each connection where READs carry as much as sends, as
  // is measured on its own bytes (docs/rdma.md).
  uint32_t read_at_least = kReadNever;
  // So many pieces at a time are open to one peer, and are fetched at a time from it; clipped to
  // what the devices do. More wait until one was fetched. 2 to 64.
  uint32_t read_window = 16;

  // kInvalidArgument: names the field, its value and its bounds.
  absl::Status Validate() const;
};

// All fields, described; they point into `options`. `prefix` comes before each name.
std::vector<OptionField> Fields(RdmaOptions& options, absl::string_view prefix);

// Connections that one loop may have on a device whose completion queue has `depth` entries:
// on an error everything that is posted is flushed, so each needs room for kMinSlots sends (and
// its receives, without a shared queue), and of the shared receives at least kMinSlots. Of
// valid options; 0: not even one.
uint32_t MaxConnections(const RdmaOptions& options, uint32_t depth, bool shared_queue);

}  // namespace farcall

#endif  // FARCALL_TRANSPORT_RDMA_OPTIONS_H_
