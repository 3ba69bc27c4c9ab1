// SPDX-License-Identifier: Apache-2.0

#include "transport/rdma/device_use.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "transport/base/check.h"
#include "transport/why_not_rdma.h"

namespace farcall {

DeviceUse::DeviceUse(const RdmaParts& parts, RdmaDevice& device, absl::AnyInvocable<void()> over)
    : parts_(parts), device_(device), over_(std::move(over)) {
  auto events = AsyncSource::Create(parts.api, parts.control, device.context(),
                                    [this](const AsyncSource::News& news) { OnNews(news); });
  // Without them removal is still told by rdma_cm.
  if (events.ok()) {
    events_ = *std::move(events);
  } else {
    parts.Log(
        absl::StrCat("no events of RDMA device ", device.name(), ": ", events.status().message()));
  }
}

DeviceUse::~DeviceUse() {
  Check(pairs_.empty() && lanes_.empty(), "a device is used no more when its use ends");
}

absl::StatusOr<std::shared_ptr<Lane>> DeviceUse::LaneOf(EventLoop& loop) {
  if (ending_) return NotRdma(WhyNotRdma::kBroken, absl::StrCat(device_.name(), " was removed"));
  const auto found = lanes_.find(&loop);
  if (found != lanes_.end()) return found->second;
  auto lane = Lane::Create(device_, loop, parts_.pool, parts_.registrar, parts_.options);
  if (!lane.ok()) return lane.status();
  lanes_[&loop] = *lane;
  ++open_lanes_;
  return *lane;
}

std::vector<EventLoop*> DeviceUse::Loops() const {
  std::vector<EventLoop*> loops;
  for (const auto& [loop, lane] : lanes_) loops.push_back(loop);
  return loops;
}

void DeviceUse::Add(const std::shared_ptr<QueuePair>& pair) { pairs_[pair.get()] = pair; }

void DeviceUse::Remove(QueuePair& pair) {
  pairs_.erase(&pair);
  if (ending_) EndIfEmpty();
}

void DeviceUse::OnRemoval() {
  if (!ending_) parts_.Log(absl::StrCat("RDMA device ", device_.name(), " was removed"));
  End(QueuePair::Ending::kNow,
      absl::UnavailableError(absl::StrCat("the device ", device_.name(), " was removed")));
}

void DeviceUse::End(QueuePair::Ending how, const absl::Status& why) {
  ending_ = true;
  // Retire may call back, but not into pairs_ before its letters are answered.
  std::vector<std::shared_ptr<QueuePair>> pairs;
  for (const auto& [key, pair] : pairs_) pairs.push_back(pair);
  for (const auto& pair : pairs) pair->Retire(how, why);
  EndIfEmpty();
}

void DeviceUse::EndIfEmpty() {
  if (!pairs_.empty() || std::exchange(lanes_ending_, true)) return;
  // It holds its descriptor, and nothing concerns anybody any more.
  events_.reset();
  EndLanes();
}

void DeviceUse::EndLanes() {
  const auto over = [this] {
    lanes_.clear();
    parts_.control.Post([this] { std::exchange(over_, nullptr)(); });
  };
  if (open_lanes_ == 0) return over();
  for (const auto& [loop, lane] : lanes_) {
    loop->Post([this, lane = lane, over]() mutable {
      lane->Close();
      EventLoop& control = parts_.control;
      // The last reference is dropped by the control loop.
      control.Post([this, over, lane = std::move(lane)]() mutable {
        lane.reset();
        if (--open_lanes_ == 0) over();
      });
    });
  }
}

void DeviceUse::OnNews(const AsyncSource::News& news) {
  const absl::string_view text = parts_.api.ibv.event_type_str(news.type);
  switch (news.type) {
    case IBV_EVENT_DEVICE_FATAL:
      parts_.Log(absl::StrCat("RDMA device ", device_.name(), " failed: ", text));
      return End(QueuePair::Ending::kNow,
                 absl::UnavailableError(absl::StrCat("the device ", device_.name(), " failed")));
    case IBV_EVENT_QP_FATAL:
    case IBV_EVENT_QP_REQ_ERR:
    case IBV_EVENT_QP_ACCESS_ERR:
      for (const auto& [key, pair] : pairs_) {
        if (news.queue_pair == pair->number()) return pair->Break(absl::UnavailableError(text));
      }
      return;
    case IBV_EVENT_PORT_ERR:
      // Its connections would find out after all retries, seconds later.
      for (const auto& [key, pair] : pairs_) {
        if (pair->port() == news.port) pair->Break(absl::UnavailableError("its port went down"));
      }
      [[fallthrough]];
    case IBV_EVENT_PORT_ACTIVE:
    case IBV_EVENT_CQ_ERR:
    case IBV_EVENT_SRQ_ERR:
      return parts_.Log(absl::StrCat("RDMA device ", device_.name(),
                                     news.port == 0 ? "" : absl::StrCat(", port ", news.port), ": ",
                                     text));
    default:  // what every connection's beginning and end brings
      return;
  }
}

}  // namespace farcall
