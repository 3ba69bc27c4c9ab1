// SPDX-License-Identifier: Apache-2.0

#include "transport/rdma/testing/rdma_rig.h"

#include "transport/base/check.h"

namespace farcall {

RdmaRig::RdmaRig(const RdmaRigOptions& options) {
  auto pool = BlockPool::Create(options.pool, &registrar_);
  Check(pool.ok(), "a test gets memory");
  pool_ = *std::move(pool);
  const Clock& clock = options.clock != nullptr ? *options.clock : clock_;
  const auto new_loop = [&clock] {
    auto loop = EventLoop::Create(clock);
    Check(loop.ok(), "a test gets file descriptors");
    return *std::move(loop);
  };
  std::vector<EventLoop*> loops;
  for (int i = 0; i < options.loops; ++i) {
    owned_.push_back(new_loop());
    loops.push_back(owned_.back().get());
  }
  control_ = new_loop();
  group_ = std::make_unique<LoopGroup>(loops);
  auto log = [this, events = options.events](absl::string_view line) {
    if (events != nullptr) events->Add(line);
    const std::lock_guard<std::mutex> lock(mutex_);
    log_.emplace_back(line);
  };
  transport_ = std::make_unique<RdmaTransport>(
      RdmaHost::Options{options.load, *control_, *pool_, registrar_, options.rdma, options.view,
                        std::move(log), &copied_, options.node_of, /*seed=*/1, options.on_nodes});
  direct_ = std::make_unique<DirectRdma>(*transport_, *control_);
}

std::vector<std::string> RdmaRig::log() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return log_;
}

bool RdmaRig::Step() {
  if (transport_ == nullptr) return false;
  bool worked = false;
  for (const auto& loop : owned_) worked |= loop->RunOnce();
  worked |= control_->RunOnce();
  return worked;
}

void RdmaRig::Nap() {
  const auto nap = [](EventLoop& loop) {
    if (loop.PrepareSleep()) loop.Awake();
  };
  for (const auto& loop : owned_) nap(*loop);
  nap(*control_);
}

std::optional<TimePoint> RdmaRig::NextTimer() {
  std::optional<TimePoint> first = control_->NextTimer();
  for (const auto& loop : owned_) {
    const std::optional<TimePoint> next = loop->NextTimer();
    if (next && (!first || *next < *first)) first = next;
  }
  return first;
}

void RdmaRig::End() {
  direct_.reset();
  transport_.reset();
}

}  // namespace farcall
