// SPDX-License-Identifier: Apache-2.0

#include "transport/rdma/host/device_use.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "transport/base/check.h"
#include "transport/rdma/host/queue_pair_creation.h"
#include "transport/why_not_rdma.h"

namespace farcall {

DeviceUse::DeviceUse(const RdmaParts& parts, RdmaDevice& device, absl::AnyInvocable<void()> changed,
                     absl::AnyInvocable<void()> over)
    : parts_(parts), device_(device), changed_(std::move(changed)), over_(std::move(over)) {
  // Without them removal still comes by rdma_cm, or is seen by looking.
  const auto no_events = [this](const absl::Status& why) {
    parts_.Log(absl::StrCat("no events of RDMA device ", device_.name(), ": ", why.message()));
  };
  auto events =
      AsyncSource::Create(parts.api, parts.control, device.context(),
                          [this, no_events](const absl::StatusOr<AsyncSource::Event>& event) {
                            return event.ok() ? OnEvent(*event) : no_events(event.status());
                          });
  if (events.ok()) {
    events_ = *std::move(events);
  } else {
    no_events(events.status());
  }
}

DeviceUse::~DeviceUse() {
  Check(pairs_.empty() && pollers_.empty(), "a device is used no more when its use ends");
}

absl::StatusOr<std::shared_ptr<QueuePair>> DeviceUse::CreatePair(EventLoop& loop,
                                                                 std::unique_ptr<Endpoint>& end,
                                                                 QueuePair::SetUp& set_up,
                                                                 PairWire wire) {
  auto poller = PollerOf(loop);
  if (!poller.ok()) return poller.status();
  const auto created = CreateQueuePair(parts_, device_, reads(), **poller, *end, wire);
  if (!created.ok()) return created.status();
  QueuePair::Events events{.device_removed = [this] { OnRemoval(); },
                           .windows_failed = [this] { GiveUpWindows("fails to bind"); },
                           .referred = [this](bool read) { OnReferred(read); },
                           .forgotten = [this](QueuePair& pair) { Remove(pair); }};
  auto pair = std::make_shared<QueuePair>(parts_, device_, *std::move(poller), std::move(end),
                                          *created, set_up, std::move(events));
  ++pairs_ever_;
  pairs_[pair.get()] = pair;
  return pair;
}

bool DeviceUse::idle() const {
  return !ending_ && std::none_of(pairs_.begin(), pairs_.end(),
                                  [](const auto& entry) { return entry.second->hears_removal(); });
}

absl::StatusOr<std::shared_ptr<DevicePoller>> DeviceUse::PollerOf(EventLoop& loop) {
  if (ending_) {
    return NotRdma(WhyNotRdma::kBroken, absl::StrCat(device_.name(), " failed or was removed"));
  }
  const auto found = pollers_.find(&loop);
  if (found != pollers_.end()) return found->second;
  // Its task runs before any that says that the poller is closed.
  auto ask = [this](DevicePoller& asking, uint32_t receives) {
    parts_.control.Post([this, &asking, receives] { GiveReceives(asking, receives); });
  };
  auto poller = DevicePoller::Create(device_, loop, parts_.pool.OnNode(loop.memory_node()),
                                     parts_.registrar, parts_.options, ask);
  if (!poller.ok()) return poller.status();
  pollers_[&loop] = *poller;
  ++open_pollers_;
  return *poller;
}

// Up to half of the pool: the rest is for what is sent and handed over.
void DeviceUse::GiveReceives(DevicePoller& poller, uint32_t receives) {
  if (pollers_ending_) return;
  const BlockPoolStats pool = parts_.pool.stats();
  const bool given = pool.used_bytes + size_t{receives} * kReceiveBlock <= pool.max_bytes / 2 &&
                     poller.pool().Reserve(kReceiveBlock, receives).ok() &&
                     parts_.registrar.RegisterPending(device_.index()).ok();
  poller.loop().Post([&poller, more = given ? receives : 0] { poller.OnReceives(more); });
}

ReadsWhy DeviceUse::reads() const {
  return ReadsOfDevice(parts_.options.read_at_least, device_.info().has_windows(),
                       windows_given_up_);
}

void DeviceUse::GiveUpWindows(absl::string_view why) {
  if (std::exchange(windows_given_up_, true) || ending_) return;
  parts_.Log(absl::StrCat("RDMA device ", device_.name(), " ", why,
                          " memory windows: its new connections do without RDMA READ "
                          "(RdmaOptions::read_at_least), all bytes are sent"));
}

// Of who asked for READs as such they are not kept away by what may be the network's fault.
void DeviceUse::OnReferred(bool read) {
  never_read_ = read ? 0 : never_read_ + 1;
  if (never_read_ < kMaxNeverRead || parts_.options.read_at_least != kReadAuto) return;
  GiveUpWindows("lost three connections whose peers did not read through");
}

std::vector<EventLoop*> DeviceUse::Loops() const {
  std::vector<EventLoop*> loops;
  for (const auto& [loop, poller] : pollers_) loops.push_back(loop);
  return loops;
}

void DeviceUse::AddTo(RdmaDeviceStatus& status) const {
  status.queue_pairs += pairs_.size();
  status.queue_pairs_ever += pairs_ever_;
  status.loops += pollers_.size();
  if (lost_) ++status.removals;
  status.reads = reads();
  for (size_t i = 0; i < events_seen_.size(); ++i)
    AddNamed(status.events, AsyncEventName(i), events_seen_[i]);
  AddTraffic(ended_traffic_, status.traffic);
  for (const auto& [loop, poller] : pollers_) poller->counters().AddTo(status.traffic);
}

void DeviceUse::Remove(QueuePair& pair) {
  pairs_.erase(&pair);
  if (ending_) EndIfEmpty();
}

void DeviceUse::OnRemoval() {
  lost_ = true;
  if (!ending_) parts_.Log(absl::StrCat("RDMA device ", device_.name(), " was removed"));
  End(QueuePair::Ending::kNow,
      absl::UnavailableError(absl::StrCat("the device ", device_.name(), " was removed")));
}

void DeviceUse::End(QueuePair::Ending how, const absl::Status& why) {
  ending_ = true;
  // Retire may call back, but not into pairs_ before its tasks have run.
  std::vector<std::shared_ptr<QueuePair>> pairs;
  for (const auto& [key, pair] : pairs_) pairs.push_back(pair);
  for (const auto& pair : pairs) pair->Retire(how, why);
  EndIfEmpty();
}

void DeviceUse::EndIfEmpty() {
  if (!pairs_.empty() || std::exchange(pollers_ending_, true)) return;
  // It holds its descriptor, and nothing concerns anybody any more.
  events_.reset();
  EndPollers();
}

void DeviceUse::EndPollers() {
  const auto over = [this] {
    for (const auto& [loop, poller] : pollers_) poller->counters().AddTo(ended_traffic_);
    // Their queues are no more.
    ended_traffic_.receive_slots = 0;
    ended_traffic_.receives_posted = 0;
    ended_traffic_.receives_promised = 0;
    ended_traffic_.receives_lost = 0;
    pollers_.clear();
    parts_.control.Post([this] { std::exchange(over_, nullptr)(); });
  };
  if (open_pollers_ == 0) return over();
  for (const auto& [loop, poller] : pollers_) {
    loop->Post([this, poller = poller, over]() mutable {
      poller->Close();
      EventLoop& control = parts_.control;
      // The last reference is dropped by the control loop.
      control.Post([this, over, poller = std::move(poller)]() mutable {
        poller.reset();
        if (--open_pollers_ == 0) over();
      });
    });
  }
}

// Null: it is not, or no longer, one of this device's.
std::shared_ptr<QueuePair> DeviceUse::Find(uint32_t number) const {
  for (const auto& [key, pair] : pairs_) {
    if (pair->number() == number) return pair;
  }
  return nullptr;
}

// Others are of other Runtimes, which have the same context.
bool DeviceUse::HasQueue(const void* queue) const {
  return std::any_of(pollers_.begin(), pollers_.end(), [queue](const auto& entry) {
    return queue == entry.second->completions() || queue == entry.second->shared_receives();
  });
}

void DeviceUse::OnEvent(const AsyncSource::Event& event) {
  ++events_seen_[AsyncEventIndex(event.type)];
  const absl::string_view text = parts_.api.ibv.event_type_str(event.type);
  switch (event.type) {
    case IBV_EVENT_DEVICE_FATAL:
      lost_ = true;
      parts_.Log(absl::StrCat("RDMA device ", device_.name(), " failed: ", text));
      return End(QueuePair::Ending::kNow,
                 absl::UnavailableError(absl::StrCat("the device ", device_.name(), " failed")));
    case IBV_EVENT_CQ_ERR:
    case IBV_EVENT_SRQ_ERR:
      if (!HasQueue(event.queue)) return;
      // Of one poller; the others are made anew with it, which is rare and simple.
      parts_.Log(absl::StrCat("RDMA device ", device_.name(), " is opened anew: ", text));
      return End(QueuePair::Ending::kDrain,
                 absl::UnavailableError(absl::StrCat(device_.name(), ": ", text)));
    case IBV_EVENT_QP_FATAL:
    case IBV_EVENT_QP_REQ_ERR:
    case IBV_EVENT_QP_ACCESS_ERR:
      if (const auto pair = Find(*event.queue_pair)) pair->Break(absl::UnavailableError(text));
      return;
    case IBV_EVENT_QP_LAST_WQE_REACHED:
      if (const auto pair = Find(*event.queue_pair)) pair->OnLastReceive();
      return;
    case IBV_EVENT_PORT_ERR:
      // Its connections would find out after all retries, seconds later.
      for (const auto& [key, pair] : pairs_) {
        if (pair->port() == event.port) pair->Break(absl::UnavailableError("its port went down"));
      }
      [[fallthrough]];
    case IBV_EVENT_PORT_ACTIVE:
      changed_();
      return parts_.Log(absl::StrCat("RDMA device ", device_.name(),
                                     event.port == 0 ? "" : absl::StrCat(", port ", event.port),
                                     ": ", text));
    case IBV_EVENT_GID_CHANGE:
    case IBV_EVENT_LID_CHANGE:
    case IBV_EVENT_CLIENT_REREGISTER:
      // Connections whose address is gone fall silent, which the link sees by itself; those to
      // other addresses go on.
      return changed_();
    default:  // what every connection's beginning and end brings
      return;
  }
}

}  // namespace farcall
