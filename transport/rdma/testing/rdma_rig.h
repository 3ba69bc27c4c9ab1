// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_TRANSPORT_RDMA_TESTING_RDMA_RIG_H_
#define FARCALL_TRANSPORT_RDMA_TESTING_RDMA_RIG_H_

#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "transport/base/clock.h"
#include "transport/base/event_ring.h"
#include "transport/buffer/block_pool.h"
#include "transport/copy_tally.h"
#include "transport/loop/event_loop.h"
#include "transport/loop/loop_group.h"
#include "transport/rdma/device/host_view.h"
#include "transport/rdma/memory/registrar.h"
#include "transport/rdma/rdma_transport.h"
#include "transport/rdma/testing/direct_rdma.h"
#include "transport/rdma/verbs/verbs_api.h"
#include "transport/rdma_options.h"

namespace farcall {

struct RdmaRigOptions {
  std::function<absl::StatusOr<VerbsApi>()> load;
  RdmaOptions rdma;
  BlockPoolOptions pool;
  HostView view;
  int loops = 3;
  EventRing* events = nullptr;  // gets the log too; outlives the rig
  std::function<int(const EventLoop&)> node_of = nullptr;
  std::function<void(const std::vector<int>&)> on_nodes = nullptr;
  const Clock* clock = nullptr;  // outlives the rig; null: CLOCK_MONOTONIC
};

// An RdmaTransport with all that it takes: loops, a control loop, a pool that is registered.
class RdmaRig {
 public:
  explicit RdmaRig(const RdmaRigOptions& options);

  RdmaTransport& transport() { return *transport_; }
  Transport& direct() { return *direct_; }
  LoopGroup& loops() { return *group_; }
  EventLoop& control() { return *control_; }
  BlockPool& pool() { return *pool_; }
  RdmaRegistrar& registrar() { return registrar_; }
  CopyTally& copied() { return copied_; }
  std::vector<std::string> log() const;

  // One turn of each loop, by hand. True: there was work.
  bool Step();
  // Arms what each loop polls, as before a sleep, and disarms it.
  void Nap();
  // The next of all loops.
  std::optional<TimePoint> NextTimer();
  // Ends the transport. No thread drives the loops.
  void End();

 private:
  SteadyClock clock_;
  CopyTally copied_;
  RdmaRegistrar registrar_;
  std::unique_ptr<BlockPool> pool_;
  mutable std::mutex mutex_;
  std::vector<std::string> log_;  // guarded by mutex_
  std::vector<std::unique_ptr<EventLoop>> owned_;
  std::unique_ptr<EventLoop> control_;
  std::unique_ptr<LoopGroup> group_;
  std::unique_ptr<RdmaTransport> transport_;
  std::unique_ptr<DirectRdma> direct_;
};

}  // namespace farcall

#endif  // FARCALL_TRANSPORT_RDMA_TESTING_RDMA_RIG_H_
