// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_TRANSPORT_RDMA_TESTING_FABRIC_VERBS_END_H_
#define FARCALL_TRANSPORT_RDMA_TESTING_FABRIC_VERBS_END_H_

#include <infiniband/verbs.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "transport/rdma/testing/fabric/fake_fabric.h"
#include "transport/rdma/verbs/owned.h"

namespace farcall {

// Opens the device of this name, and asks for its port and for the GID that it is reached by, the
// last: RoCE v2 where there are two types. False: a call failed, see errno.
bool OpenByName(const VerbsApi& api, const std::string& name, ibv_context*& context,
                ibv_port_attr& port, ibv_gid_entry& gid);

// False: it was not made.
template <typename T>
bool KeepMade(absl::StatusOr<T> made, T& to) {
  if (made.ok()) to = *std::move(made);
  return made.ok();
}

// As FabricEnd, but of ibv_create_qp(3): the test takes it from step to step. One thread at a time.
class VerbsEnd {
 public:
  static constexpr int kToInit =
      IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS;
  static constexpr int kToReceive = IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN |
                                    IBV_QP_RQ_PSN | IBV_QP_MAX_DEST_RD_ATOMIC |
                                    IBV_QP_MIN_RNR_TIMER;
  static constexpr int kToSend = IBV_QP_STATE | IBV_QP_SQ_PSN | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT |
                                 IBV_QP_RNR_RETRY | IBV_QP_MAX_QP_RD_ATOMIC;

  VerbsEnd(FakeFabric& fabric, const std::string& device);
  VerbsEnd(const VerbsEnd&) = delete;
  VerbsEnd& operator=(const VerbsEnd&) = delete;
  // All that is left goes, in order.
  ~VerbsEnd();

  // Opens the device, and makes all up to the queue pair. False: a call failed, see errno.
  bool Make();

  // What a program that is right asks for.
  ibv_qp_attr ToInit() const;
  ibv_qp_attr ToReceive(const VerbsEnd& peer) const;
  ibv_qp_attr ToSend() const;
  // An errno, or 0.
  int Modify(ibv_qp_attr attributes, int mask);
  int Init() { return Modify(ToInit(), kToInit); }
  int ReadyToReceive(const VerbsEnd& peer) { return Modify(ToReceive(peer), kToReceive); }
  int ReadyToSend() { return Modify(ToSend(), kToSend); }
  // The last two; it is made and in IBV_QPS_INIT.
  int Join(const VerbsEnd& peer);

  // With the first bytes of its memory. An errno, or 0.
  int Send(const std::string& text, uint64_t wr_id = 1);
  int Receive(uint64_t wr_id = 1);
  std::vector<ibv_wc> Poll();
  // What Poll() says of them, "" where there is nothing.
  std::string PollStatus();
  // What was received last.
  std::string text() const { return std::string(memory_.data() + kHalf, received_); }

  FakeFabric& fabric;
  const VerbsApi& api;
  uint32_t first_packet = 0x123456;
  ibv_context* context = nullptr;
  ibv_port_attr port{};
  ibv_gid_entry gid{};
  ProtectionDomain domain;
  MemoryRegion region;
  CompletionQueue queue;
  OwnedQueuePair pair;

 private:
  static constexpr size_t kHalf = 256;

  const std::string device_;
  std::vector<char> memory_ = std::vector<char>(2 * kHalf);
  size_t received_ = 0;
};

}  // namespace farcall

#endif  // FARCALL_TRANSPORT_RDMA_TESTING_FABRIC_VERBS_END_H_
