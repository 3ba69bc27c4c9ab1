// SPDX-License-Identifier: Apache-2.0
//
// What channels stand on in their fuzz tests.

#ifndef FARCALL_TRANSPORT_RDMA_CHANNEL_CHANNEL_FUZZ_TESTING_H_
#define FARCALL_TRANSPORT_RDMA_CHANNEL_CHANNEL_FUZZ_TESTING_H_

#include <infiniband/verbs.h>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <span>
#include <utility>

#include "absl/functional/any_invocable.h"
#include "absl/status/status.h"
#include "transport/buffer/memory_registrar.h"
#include "transport/rdma/memory/region_keys.h"
#include "transport/rdma/verbs/verbs_api.h"

namespace farcall::testing {

// Memory that the device knows from the beginning.
class KnownMemory final : public MemoryRegistrar {
 public:
  KnownMemory() { keys_.Set(0, 1); }
  const RegionKeys* OnMap(std::span<std::byte>, int) override { return &keys_; }
  void OnUnmap(const RegionKeys*) override {}
  const RegionKeys* OnMapUser(std::span<std::byte>) override { return &keys_; }
  void OnUnmapUser(const RegionKeys*, absl::AnyInvocable<void()> done) override {
    if (done) done();
  }
  absl::Status UserStatus(const RegionKeys*) const override { return absl::OkStatus(); }

 private:
  RegionKeys keys_;
};

// A device that takes all that is posted and does nothing by itself.
struct FuzzDevice {
  FuzzDevice() {
    context.ops.post_send = [](ibv_qp* to, ibv_send_wr* first, ibv_send_wr**) {
      auto& self = *static_cast<FuzzDevice*>(to->qp_context);
      for (const ibv_send_wr* request = first; request != nullptr; request = request->next) {
        ++self.sent;
        if (request->send_flags & IBV_SEND_SIGNALED) self.signaled.push_back(request->wr_id);
      }
      return 0;
    };
    context.ops.post_recv = [](ibv_qp* to, ibv_recv_wr* first, ibv_recv_wr**) {
      auto& self = *static_cast<FuzzDevice*>(to->qp_context);
      for (const ibv_recv_wr* request = first; request != nullptr; request = request->next) {
        self.receives.push_back({request->wr_id, request->sg_list->addr});
      }
      return 0;
    };
    pair.context = &context;
    pair.qp_context = this;
    pair.qp_num = 7;
    api.ibv.wc_status_str = [](ibv_wc_status) { return "broken by the fuzzer"; };
  }
  struct Receive {
    uint64_t id;
    uint64_t address;
  };

  VerbsApi api{};
  ibv_context context{};
  ibv_qp pair{};
  uint32_t sent = 0;
  std::deque<uint64_t> signaled;
  std::deque<Receive> receives;
};

}  // namespace farcall::testing

#endif  // FARCALL_TRANSPORT_RDMA_CHANNEL_CHANNEL_FUZZ_TESTING_H_
