// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "transport/base/check.h"
#include "transport/base/errno_status.h"
#include "transport/rdma/channel/device_poller.h"
#include "transport/why_not_rdma.h"

namespace farcall {
namespace {

// Fewer shared receives carry no connection worth it.
constexpr uint32_t kFewestReceives = 16;

absl::Status Refused(const absl::Status& error) {
  return NotRdma(WhyNotRdma::kDeviceRefused, error.message());
}

}  // namespace

absl::StatusOr<std::shared_ptr<DevicePoller>> DevicePoller::Create(RdmaDevice& device,
                                                                   EventLoop& loop, BlockPool& pool,
                                                                   RdmaRegistrar& registrar,
                                                                   const RdmaOptions& options,
                                                                   AskMore ask) {
  std::shared_ptr<DevicePoller> poller(
      new DevicePoller(device, loop, pool, registrar, options, std::move(ask)));
  absl::Status made = poller->MakeQueues(registrar);
  if (!made.ok()) return made;
  loop.Post([poller] { poller->Begin(); });
  return poller;
}

absl::Status DevicePoller::MakeQueues(RdmaRegistrar& registrar) {
  auto event_channel = CreateCompletionChannel(api_, context_);
  if (!event_channel.ok()) return Refused(event_channel.status());
  event_channel_ = *std::move(event_channel);
  const auto most = static_cast<uint32_t>(std::max(0, caps_.max_cqe));
  auto cq = CreateCompletionQueue(api_, context_,
                                  static_cast<int>(std::min(options_.completion_queue_depth, most)),
                                  nullptr, event_channel_.get());
  if (!cq.ok()) return Refused(cq.status());
  cq_ = *std::move(cq);
  room_ = CompletionQueueBudget(static_cast<uint32_t>(cq_->cqe));
  // What is sent is copied to, at least the headers.
  const absl::Status headers = pool_.Reserve(BlockPool::kSmall, /*count=*/1);
  if (!headers.ok()) return NotRdma(WhyNotRdma::kCapacity, headers.message());
  const absl::Status registered = registrar.RegisterPending(device_);
  // Kept from now on: counts must leave although the pool may have nothing then.
  if (!batch_.Reserve(MessagePlan())) {
    if (!registered.ok()) return registered;
    return NotRdma(WhyNotRdma::kCapacity,
                   "no memory for message headers (BlockPoolOptions::max_bytes)");
  }
  // Each queue pair finds its receives, or not, as it is enrolled.
  if (caps_.max_srq <= 0) return absl::OkStatus();
  return MakeSharedReceives(registrar);
}

absl::Status DevicePoller::MakeSharedReceives(RdmaRegistrar& registrar) {
  const uint32_t room =
      std::min(static_cast<uint32_t>(std::max(0, caps_.max_srq_wr)), room_.entries() / 2);
  const uint32_t slots = std::min(options_.shared_receives, room);
  uint32_t most = std::max(slots, std::min(options_.max_shared_receives, room));
  auto srq = CreateSharedReceiveQueue(api_, pd_, most);
  if (!srq.ok() && most > slots) {
    most = slots;
    srq = CreateSharedReceiveQueue(api_, pd_, most);
  }
  if (!srq.ok()) return Refused(srq.status());
  srq_ = *std::move(srq);
  receives_.emplace(pool_, device_, ReceiveQueue::Target{.shared = srq_.get()}, most,
                    options_.receive_slots);
  receives_->SetUsed(slots);
  Check(room_.Take(slots), "at most half of the queue is for receives");
  first_receives_ = receive_room_ = slots;
  // What it does not give is reported below.
  pool_.Reserve(kReceiveBlock, slots).IgnoreError();
  const absl::Status registered = registrar.RegisterPending(device_);
  receives_->Fill();
  receives_->Post();
  if (receives_->ledger().posted() >= std::min(kFewestReceives, slots)) return absl::OkStatus();
  if (!registered.ok()) return registered;
  if (const int error = receives_->refused(); error != 0) {
    return Refused(Annotate(ErrnoStatus(error), "ibv_post_srq_recv"));
  }
  return NotRdma(WhyNotRdma::kCapacity,
                 absl::StrCat("only ", receives_->ledger().posted(), " of ", slots,
                              " receives of 64 KiB found memory (BlockPoolOptions::max_bytes)"));
}

// With the data loop held.
void DevicePoller::Begin() {
  if (polling_) return;
  polling_ = loop_.AddSource(*this).ok();
  if (polling_ && receives_) Replenish(*receives_);
  CountBatch(0);
}

}  // namespace farcall
