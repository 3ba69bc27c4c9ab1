// SPDX-License-Identifier: Apache-2.0
//
// DevicePoller: one data loop's way to one device: a completion queue that the loop polls, and the
// shared receive queue behind it. All queue pairs of that loop on that device use it.
//
// It is made and ended by the control loop, and in between belongs to the data loop. A queue
// pair is entered here before the first byte can come (Enroll), and forgotten after it
// was destroyed (Forget), when no completion of it can come any more: numbers of queue
// pairs are used again.

#ifndef FARCALL_TRANSPORT_RDMA_CHANNEL_DEVICE_POLLER_H_
#define FARCALL_TRANSPORT_RDMA_CHANNEL_DEVICE_POLLER_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/functional/any_invocable.h"
#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "transport/base/backoff.h"
#include "transport/buffer/block_pool.h"
#include "transport/loop/event_loop.h"
#include "transport/rdma/channel/device_poller_counters.h"
#include "transport/rdma/channel/pair_channel.h"
#include "transport/rdma/channel/receive_queue.h"
#include "transport/rdma/channel/send_batch.h"
#include "transport/rdma/device/device.h"
#include "transport/rdma/flow/completion_queue_budget.h"
#include "transport/rdma/memory/registrar.h"
#include "transport/rdma/verbs/owned.h"
#include "transport/rdma_options.h"

namespace farcall {

class DevicePoller final : private PollSource {
 public:
  // It needs so many more blocks for shared receives, in registered memory.
  using AskMore = absl::AnyInvocable<void(DevicePoller&, uint32_t receives)>;

  // With the control loop held. `loop` gets it by a posted task. What is passed by reference
  // outlives the poller. kCapacity or kMemlock: not even one connection could be carried.
  // `ask` is called with the data loop held, and answered by OnReceives, unless Close comes
  // before.
  static absl::StatusOr<std::shared_ptr<DevicePoller>> Create(RdmaDevice& device, EventLoop& loop,
                                                              BlockPool& pool,
                                                              RdmaRegistrar& registrar,
                                                              const RdmaOptions& options,
                                                              AskMore ask);
  DevicePoller(const DevicePoller&) = delete;
  DevicePoller& operator=(const DevicePoller&) = delete;
  // With the control loop held, after Close; every channel was forgotten.
  ~DevicePoller();

  // --- Any thread.

  EventLoop& loop() const { return loop_; }
  BlockPool& pool() const { return pool_; }
  ibv_cq* completions() const { return cq_.get(); }
  ibv_srq* shared_receives() const { return srq_.get(); }  // null: a queue for each queue pair
  const DevicePollerCounters& counters() const { return counters_; }

  // --- With the data loop held.

  // The channel's receives are there, and its completions find it. kCapacity: the completion
  // queue or the receives are used up.
  absl::Status Enroll(const std::shared_ptr<PairChannel>& channel, PeerTrust trust);
  // Handles what has completed, and then fails the channel.
  void Break(PairChannel& channel, const absl::Status& why);
  // Calls `done` when all that the channel sent has completed and the completion queue was
  // empty afterwards, or when the channel is forgotten.
  void WhenDrained(PairChannel& channel, absl::AnyInvocable<void()> done);
  // The queue pair is destroyed. Handles the completions that are still there. `silent`: without
  // the device's word that it has given up what it took of the shared receives.
  void Forget(PairChannel& channel, bool silent);
  // The pool has blocks for so many more shared receives; 0: there will be no more for now.
  void OnReceives(uint32_t more);
  // Ends polling. Nothing is enrolled.
  void Close();

 private:
  static constexpr int kBatch = 32;
  // Events are acknowledged by so many at a time: that takes a lock.
  static constexpr unsigned kAcknowledge = 64;
  // Without blocks for so long, connections that hold part of a message give it up: those
  // blocks may be just what all others wait for.
  static constexpr Duration kStarved = std::chrono::seconds(1);
  // How often more receives are asked for where there were none to be had.
  static constexpr Duration kAskEvery = std::chrono::seconds(1);
  struct Drain {
    PairChannel* channel;
    absl::AnyInvocable<void()> done;
  };

  DevicePoller(RdmaDevice& device, EventLoop& loop, BlockPool& pool, const RdmaRegistrar& registrar,
               const RdmaOptions& options, AskMore ask);
  absl::Status MakeQueues(RdmaRegistrar& registrar);
  absl::Status MakeSharedReceives(RdmaRegistrar& registrar);
  void Begin();

  bool Poll() override;
  bool Arm() override;
  void Disarm() override { TakeEvents(); }
  int fd() const override { return event_channel_->fd; }

  int Look();
  void HandleBatch(int count);
  void CountBatch(int completions);
  void Handle(const ibv_wc& completion);
  void Replenish(ReceiveQueue& queue);
  void Retry();
  void GrantStarved();
  void BalanceReceives();
  void FinishDrains(absl::FunctionRef<bool(const Drain&)> over);
  bool Enrolled(const PairChannel& channel) const;
  void FailAll(const absl::Status& why);
  void TakeEvents();
  uint32_t NeedOf(PairChannel& channel) const;

  const VerbsApi& api_;
  EventLoop& loop_;
  BlockPool& pool_;
  const RdmaOptions& options_;
  const size_t device_;
  ibv_pd* const pd_;
  ibv_context* const context_;
  const ibv_device_attr caps_;
  CompletionChannel event_channel_;
  CompletionQueue cq_;

  // With the data loop held. The blocks outlive the queue that they are posted to.
  std::optional<ReceiveQueue> receives_;
  SharedReceiveQueue srq_;
  SendBatch batch_;
  CompletionQueueBudget room_{0};  // of cq_
  uint32_t receive_room_ = 0;      // taken of it for shared receives, the most that there were
  uint32_t first_receives_ = 0;    // never fewer than these
  AskMore ask_;
  bool asking_ = false;
  TimePoint ask_again_{};                                                 // not before
  absl::flat_hash_map<uint32_t, std::shared_ptr<PairChannel>> channels_;  // by number
  absl::flat_hash_map<uint32_t, uint32_t> refused_;  // entries of the queue that they may still use
  std::vector<PairChannel*> members_;                // by ledger member
  PairChannel* last_ = nullptr;                      // that was found
  std::vector<PairChannel*> touched_;                // by the batch that is handled
  std::vector<PairChannel*> spare_;                  // its memory, of the batch before
  std::vector<Drain> drains_;
  std::array<ibv_wc, kBatch> found_;
  DevicePollerCounters counters_;
  int slipped_in_ = 0;  // of found_, what Arm found
  bool polling_ = false;
  unsigned unacknowledged_ = 0;
  Backoff retry_ = Backoff::ForMemory();
  Timer retry_timer_;
};

}  // namespace farcall

#endif  // FARCALL_TRANSPORT_RDMA_CHANNEL_DEVICE_POLLER_H_
