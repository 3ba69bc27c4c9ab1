// SPDX-License-Identifier: Apache-2.0

#include "transport/rdma/host/rdma_host.h"

#include <algorithm>
#include <random>
#include <utility>

#include "transport/base/check.h"
#include "transport/why_not_rdma.h"

namespace farcall {
namespace {

uint64_t RandomSeed() {
  std::random_device random;
  return (uint64_t{random()} << 32) | random();
}

}  // namespace

RdmaHost::RdmaHost(Options options)
    : options_(std::move(options)),
      watch_(options_.view.sys_class),
      seed_(options_.seed ? *options_.seed : RandomSeed()),
      timer_([this] { OnTime(); }) {}

RdmaHost::~RdmaHost() {
  Check(uses_.empty() && attempts_.empty() && cm_ == nullptr, "RDMA is taken down before it dies");
}

absl::Status RdmaHost::Ready() {
  if (ending_) return NotRdma(WhyNotRdma::kNotAsked, "this process is ending");
  if (absl::Status loaded = LoadAtPace(); !loaded.ok()) return loaded;
  if (looked_) {
    // Where there was one, the timer and its events tell when it is gone: connections need
    // not wait while all are looked at again.
    absl::Status available = devices_->Availability();
    if (available.ok()) return available;
    if (options_.control.now() - *looked_ < kRefreshEvery && !Watch()) return available;
  }
  return Look();
}

absl::Status RdmaHost::Look() {
  looked_ = options_.control.now();
  const absl::Status available = devices_->Refresh();
  usable_ = available.ok() && cm_ != nullptr;
  if (usable_ && options_.on_nodes) {
    std::vector<int> nodes;
    for (const auto& port : ActivePorts()) nodes.push_back(port.device.numa_node);
    options_.on_nodes(nodes);
  }
  if (auto places = devices_->UsablePlaces(); places.ok()) arrivals_.See(*std::move(places));
  // Devices that went away without a word. Only those without connections, since rdma_cm tells
  // of the others; and while one device goes away, librdmacm may see none at all.
  for (RdmaDevice* const device : devices_->Gone()) {
    const auto use = uses_.find(device->context());
    if (use == uses_.end()) {
      devices_->Remove(device->context());
    } else if (use->second->idle()) {
      use->second->OnRemoval();
    }
  }
  return available;
}

// Where it fails, it may do so for good, and for each connection that begins.
absl::Status RdmaHost::LoadAtPace() {
  const Clock& clock = options_.control.clock();
  const TimePoint began = clock.Now();
  if (!load_error_.ok() && began < load_again_ && !Watch()) return load_error_;
  load_error_ = Load();
  if (load_error_.ok()) return load_error_;
  const TimePoint ended = clock.Now();
  load_again_ = ended + kLoadPause * (ended - began);
  return load_error_;
}

void RdmaHost::LookedInVain(Duration time) {
  if (time < kSlowAccept) return;
  accept_again_ = options_.control.clock().Now() + kAcceptPause * time;
}

absl::Status RdmaHost::MayAccept() const {
  if (options_.control.clock().Now() >= accept_again_) return absl::OkStatus();
  return NotRdma(WhyNotRdma::kCapacity,
                 "set-up over TCP pauses: the way to a client's GID was looked for in vain");
}

absl::Status RdmaHost::Load() {
  if (!api_) {
    auto api = options_.load();
    if (!api.ok()) return api.status();
    api_ = *api;
    parts_.emplace(RdmaParts{*api_, options_.control, options_.pool, options_.registrar,
                             options_.rdma, options_.log, port_counts_, options_.copied});
  }
  if (!attached_) options_.registrar.Attach(options_.control);
  attached_ = true;
  if (devices_ == nullptr) {
    watch_.Changed();  // what is there now is looked at next
    devices_ = std::make_unique<DeviceSet>(*api_, options_.rdma, options_.registrar, options_.log,
                                           options_.view);
  }
  if (cm_ != nullptr) return absl::OkStatus();
  auto cm = CmSource::Create(*api_, options_.control);
  if (cm.ok()) {
    cm_ = *std::move(cm);
    StartTimer();
    return absl::OkStatus();
  }
  // The list of devices may know better why: none, or not permitted.
  absl::Status devices = devices_->Refresh();
  // What librdmacm has opened to look at it must be let go when it is removed.
  if (devices_->keeps_any()) StartTimer();
  return devices.ok() ? NotRdma(WhyNotRdma::kDeviceRefused, cm.status().message()) : devices;
}

absl::StatusOr<DeviceUse*> RdmaHost::UseOf(ibv_context* context) {
  if (ending_) return NotRdma(WhyNotRdma::kNotAsked, "this process is ending");
  const auto found = uses_.find(context);
  if (found != uses_.end()) {
    if (!found->second->ending()) return found->second.get();
    return NotRdma(WhyNotRdma::kBroken, "the device is being removed");
  }
  auto device = devices_->Find(context);
  if (!device.ok()) return device.status();
  auto changed = [this, name = (*device)->name()] {
    arrivals_.Forget(name);
    looks_due_ = std::max(looks_due_, 1);
  };
  auto use = std::make_unique<DeviceUse>(*parts_, **device, changed, [this, context] {
    Remember(*uses_[context]);
    arrivals_.Forget(uses_[context]->device().name());
    uses_.erase(context);
    devices_->Remove(context);
    looked_.reset();
    usable_ = false;
    looks_due_ = kLooksAfterChange;
    StartTimer();
  });
  DeviceUse* const result = use.get();
  uses_[context] = std::move(use);
  StartTimer();
  return result;
}

// Ids without a queue pair, which are those of listeners, hear of it too.
void RdmaHost::OnRemoval(ibv_context* context) {
  const auto use = uses_.find(context);
  if (use != uses_.end() && !use->second->ending()) use->second->OnRemoval();
}

// One that has come may have its addresses a little later.
bool RdmaHost::Watch() {
  if (!watch_.Changed()) return false;
  looks_due_ = kLooksAfterChange;
  return true;
}

void RdmaHost::StartTimer() {
  if (ending_) return;
  const bool quick = !uses_.empty() || looks_due_ > 0;
  options_.control.SetTimer(timer_, options_.control.now() + (quick ? kGrowEvery : kWatchEvery));
}

void RdmaHost::OnTime() {
  Watch();
  if (looks_due_ > 0) {
    --looks_due_;
    Look().IgnoreError();
  }
  if (!uses_.empty()) options_.pool.GrowAhead();
  // Nothing tells of the removal of a device that no id is bound to, nor of each address that
  // comes.
  const bool unheard = arrivals_.awaited() || uses_.empty() ||
                       std::any_of(uses_.begin(), uses_.end(),
                                   [](const auto& entry) { return entry.second->idle(); });
  if (unheard && options_.control.now() - looked_.value_or(TimePoint()) >= kRefreshEvery) {
    Look().IgnoreError();
  }
  StartTimer();
}

bool RdmaHost::Keep(const std::shared_ptr<Attempt>& attempt, bool incoming) {
  if (ending_ || (incoming && incoming_.size() >= kMaxIncoming)) return false;
  attempts_[attempt.get()] = attempt;
  if (incoming) incoming_.insert(attempt.get());
  return true;
}

bool RdmaHost::TakeTurn(Attempt& attempt) {
  if (line_.empty() && connecting_.size() < kMaxConnecting) {
    connecting_.insert(&attempt);
    return true;
  }
  line_.push_back(&attempt);
  return false;
}

void RdmaHost::Drop(Attempt& attempt) {
  incoming_.erase(&attempt);
  if (connecting_.erase(&attempt) == 0) std::erase(line_, &attempt);
  attempts_.erase(&attempt);
  NextTurns();
}

// One that fails at once drops itself, from inside this.
void RdmaHost::NextTurns() {
  if (std::exchange(turning_, true)) return;
  while (!ending_ && !line_.empty() && connecting_.size() < kMaxConnecting) {
    Attempt& next = *line_.front();
    line_.pop_front();
    connecting_.insert(&next);
    next.OnTurn();
  }
  turning_ = false;
}

std::vector<EventLoop*> RdmaHost::Loops() const {
  std::vector<EventLoop*> loops;
  for (const auto& [context, use] : uses_) {
    for (EventLoop* const loop : use->Loops()) loops.push_back(loop);
  }
  return loops;
}

bool RdmaHost::TakeDown() {
  if (!std::exchange(ending_, true)) {
    options_.control.CancelTimer(timer_);
    std::vector<std::shared_ptr<Attempt>> attempts;
    for (const auto& [key, attempt] : attempts_) attempts.push_back(attempt);
    for (const auto& attempt : attempts) attempt->Cancel();
    for (const auto& [context, use] : uses_) {
      use->End(QueuePair::Ending::kDrain, absl::CancelledError("this process is ending"));
    }
  }
  if (!attempts_.empty() || !uses_.empty()) return false;
  cm_.reset();
  devices_.reset();
  if (std::exchange(attached_, false)) options_.registrar.Detach();
  return true;
}

}  // namespace farcall
