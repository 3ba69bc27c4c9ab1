// SPDX-License-Identifier: Apache-2.0

#include "transport/link/connection/upgrader.h"

#include "absl/strings/str_cat.h"
#include "transport/link/upgrade/upgrade_messages.h"

namespace farcall {
namespace {

// From the peer, of one generation: who tries all places of an offer one after the other needs two
// for each.
constexpr uint32_t kMaxSetUps = 2 * kMaxOffered;

}  // namespace

void Upgrader::WatchWhile(bool wanted) {
  if (!wanted) return watch_.reset();
  if (watch_ != nullptr) return;
  watch_ = parts_.settings->rdma->Watch(parts_.loop, [this] {
    OnCome();
    parts_.on_event();
  });
}

UpgradeTransport::SendSetUp Upgrader::SendSetUps(uint32_t generation) {
  return [this, generation](const std::string& message) {
    parts_.stream.SendUpgrade(LinkFrameType::kUpgradeSetUp, EncodeSetUp({generation, message}));
    parts_.on_event();
  };
}

absl::Status Upgrader::OnSetUp(const LinkFrame& frame, uint32_t generation) {
  const auto set_up = ParseSetUp(frame.payload.ToString());
  if (!set_up.ok()) return set_up.status();
  if (ticket_ == nullptr || set_up->generation != generation) return absl::OkStatus();
  if (++set_ups_ > kMaxSetUps) {
    return absl::InvalidArgumentError(
        absl::StrCat("more than ", kMaxSetUps, " UPGRADE_SETUP for one generation"));
  }
  ticket_->OnSetUp(set_up->message);
  return absl::OkStatus();
}

void Upgrader::SetTicket(std::unique_ptr<UpgradeTicket> ticket) {
  set_ups_ = 0;
  ticket_ = std::move(ticket);
}

void Upgrader::DropTicket() {
  if (ticket_ != nullptr) over_.push_back(std::move(ticket_));
}

void Upgrader::Record(const absl::Status& why, bool others) {
  UpgradeRecord& record = *parts_.settings->record;
  others ? record.OnRailLost(parts_.log_name, why) : record.OnFallback(parts_.log_name, why);
}

// At most as many as there are rails: the peer says RESUME before anything of the next generation.
// One that never does makes no more pile up.
void Upgrader::RecordWhenResumed(uint32_t generation, const absl::Status& why, bool others) {
  if (unreported_.size() == kMaxRails) unreported_.erase(unreported_.begin());
  unreported_.push_back({generation, why, others});
}

void Upgrader::OnResumed(uint32_t generation) {
  std::erase_if(unreported_, [&](const Lost& lost) {
    if (generation < lost.generation) return false;
    Record(lost.why, lost.others);
    return true;
  });
}

}  // namespace farcall
