// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_TRANSPORT_RDMA_TESTING_FABRIC_FABRIC_END_H_
#define FARCALL_TRANSPORT_RDMA_TESTING_FABRIC_FABRIC_END_H_

#include <rdma/rdma_cma.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "transport/rdma/testing/fabric/fake_fabric.h"

namespace farcall {

struct FabricEndOptions {
  ibv_qp_cap cap = {.max_send_wr = 16,
                    .max_recv_wr = 16,
                    .max_send_sge = 4,
                    .max_recv_sge = 4,
                    .max_inline_data = 64};
  int entries = 64;
  uint32_t shared_receives = 0;  // 0: a receive queue of its own
  uint8_t retry_count = 6;
  uint8_t rnr_retry = 7;
  uint8_t reads = 0;  // RDMA READs at once, that it begins and that it answers
};

// What a small program holds at one end of a connection, by the table alone: the user
// that the fabric's own tests need. Gives everything back in order. One thread at a time.
class FabricEnd {
 public:
  static constexpr size_t kSlots = 64;
  static constexpr size_t kSlotBytes = 256;

  explicit FabricEnd(FakeFabric& fabric, FabricEndOptions options = {});
  ~FabricEnd();

  // Steps of a connection; false: the call failed, see errno.
  bool MakeId();
  bool Resolve(const std::string& ip, uint16_t port, const std::string& own_ip = "");
  // All that hangs on id->verbs, and the queue pair.
  bool Prepare();
  bool Connect(const std::string& data = "");
  bool Listen(const std::string& ip, uint16_t port, int backlog = 8);
  // Takes over the id of a CONNECT_REQUEST that `listener` has read.
  void Adopt(FabricEnd& listener);
  bool Accept(const std::string& data = "");

  struct Event {
    rdma_cm_event_type type;
    int status;
    std::string data;
    rdma_cm_id* id;
  };
  // Of its channel, acknowledged; none: the channel has none now.
  std::optional<Event> Next();
  // The same, as a type; -1: none.
  int NextType();

  // With the first bytes of a slot. An errno, or 0.
  int Send(size_t slot, uint32_t bytes, uint64_t wr_id, unsigned int flags = IBV_SEND_SIGNALED);
  int Receive(size_t slot, uint32_t bytes, uint64_t wr_id);
  std::vector<ibv_wc> Poll();
  char* Slot(size_t slot) { return &memory[slot * kSlotBytes]; }
  std::string Text(size_t slot, size_t bytes) { return std::string(Slot(slot), bytes); }
  void Fill(size_t slot, const std::string& text);
  ibv_sge Range(size_t slot, uint32_t bytes) {
    return {reinterpret_cast<uint64_t>(Slot(slot)), bytes, region->lkey};
  }

  void DestroyQp();
  void DestroyId();
  // All that is left.
  void Release();

  FakeFabric& fabric;
  const VerbsApi& api;
  const FabricEndOptions options;
  std::vector<char> memory;
  rdma_event_channel* channel = nullptr;
  rdma_cm_id* id = nullptr;
  ibv_pd* domain = nullptr;
  ibv_comp_channel* completions = nullptr;
  ibv_cq* queue = nullptr;
  ibv_srq* shared = nullptr;
  ibv_mr* region = nullptr;

 private:
  bool owns_channel_ = true;
};

// A server and a client, connected when Join() says so.
struct FabricPair {
  explicit FabricPair(FakeFabric& fake_fabric, FabricEndOptions options = {})
      : fabric(fake_fabric),
        listener(fake_fabric, options),
        server(fake_fabric, options),
        client(fake_fabric, options) {}

  // fakeA dials fakeB.
  bool Join();
  // The client has asked, the listener has its event, and the server's end is prepared.
  bool Ask(const std::string& data = "");
  bool Answer(const std::string& data = "");

  FakeFabric& fabric;
  FabricEnd listener;
  FabricEnd server;
  FabricEnd client;
  std::optional<FabricEnd::Event> request;
  std::optional<FabricEnd::Event> reply;
};

constexpr uint16_t kFabricPort = 7471;

}  // namespace farcall

#endif  // FARCALL_TRANSPORT_RDMA_TESTING_FABRIC_FABRIC_END_H_
