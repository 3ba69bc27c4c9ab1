// SPDX-License-Identifier: Apache-2.0
//
// For tests of receive queues: memory that the device learns of late, and a queue that notes what
// is posted.

#ifndef FARCALL_TRANSPORT_RDMA_CHANNEL_RECEIVE_QUEUE_TESTING_H_
#define FARCALL_TRANSPORT_RDMA_CHANNEL_RECEIVE_QUEUE_TESTING_H_

#include <gtest/gtest.h>
#include <infiniband/verbs.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "absl/functional/any_invocable.h"
#include "absl/status/status.h"
#include "transport/base/check.h"
#include "transport/buffer/block_pool.h"
#include "transport/buffer/memory_registrar.h"
#include "transport/rdma/channel/receive_queue.h"
#include "transport/rdma/flow/wr_id.h"
#include "transport/rdma/memory/region_keys.h"

namespace farcall {

// Registers a region when the test says so.
class LateRegistrar final : public MemoryRegistrar {
 public:
  static constexpr size_t kDevice = 3;

  const RegionKeys* OnMap(std::span<std::byte>, int) override {
    regions_.push_back(std::make_unique<RegionKeys>());
    return regions_.back().get();
  }
  void OnUnmap(const RegionKeys*) override {}
  const RegionKeys* OnMapUser(std::span<std::byte>) override { return nullptr; }
  void OnUnmapUser(const RegionKeys*, absl::AnyInvocable<void()>) override {}
  absl::Status UserStatus(const RegionKeys*) const override { return absl::OkStatus(); }
  void RegisterAll() {
    for (const auto& keys : regions_) keys->Set(kDevice, 7);
  }

 private:
  std::vector<std::unique_ptr<RegionKeys>> regions_;
};

// A shared receive queue that notes which slots were posted.
struct FakeSharedQueue {
  FakeSharedQueue() {
    context.ops.post_srq_recv = Post;
    srq.context = &context;
    srq.srq_context = this;
  }
  static int Post(ibv_srq* srq, ibv_recv_wr* request, ibv_recv_wr**) {
    auto& self = *static_cast<FakeSharedQueue*>(srq->srq_context);
    for (; request != nullptr; request = request->next) {
      EXPECT_EQ(request->sg_list->lkey, 7u);
      self.posted.push_back(UnpackWrId(request->wr_id).slot);
    }
    return 0;
  }

  std::vector<uint32_t> posted;
  ibv_context context{};
  ibv_srq srq{};
};

class ReceiveQueueTest : public ::testing::Test {
 protected:
  static constexpr size_t kDevice = LateRegistrar::kDevice;
  static constexpr uint32_t kSlots = 8;

  static std::unique_ptr<BlockPool> MakePool(LateRegistrar& registrar) {
    auto pool = BlockPool::Create({.region_bytes = size_t{2} << 20, .max_bytes = size_t{32} << 20},
                                  &registrar);
    Check(pool.ok(), "the options are valid");
    return *std::move(pool);
  }
  bool Replenish() {
    queue_.Fill();
    return queue_.Post();
  }

  FakeSharedQueue fake_;
  LateRegistrar registrar_;
  std::unique_ptr<BlockPool> pool_ = MakePool(registrar_);
  ReceiveQueue queue_{*pool_, kDevice, {.shared = &fake_.srq}, kSlots, kSlots};
};

}  // namespace farcall

#endif  // FARCALL_TRANSPORT_RDMA_CHANNEL_RECEIVE_QUEUE_TESTING_H_
