// SPDX-License-Identifier: Apache-2.0
//
// What a LinkConnection tells of itself.

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "transport/link/connection/link_connection.h"
#include "transport/why_not_rdma.h"

namespace farcall {

ConnectionInfo LinkConnection::info() const {
  ConnectionInfo info = parts_.tcp->info();
  if (handshake_ != nullptr && brpc_ == nullptr) {
    info.bytes_read -= std::min<uint64_t>(info.bytes_read, handshake_->bytes_read());
    info.bytes_written -= std::min<uint64_t>(info.bytes_written, handshake_->bytes_written());
  }
  if (brpc_ != nullptr) {
    brpc_->Describe(info);
  } else if (linked_ != nullptr) {
    info.linked = true;
    linked_->Describe(info);
  } else {
    const absl::Status why = why_not_rdma();
    info.why_not_rdma = ReasonOf(why);
    info.why_detail = DetailOf(why);
  }
  return info;
}

absl::Status LinkConnection::why_not_rdma() const {
  if (linked_ != nullptr) return linked_->on_rdma() ? absl::OkStatus() : linked_->why_not();
  return why_;
}

void LinkConnection::NotifyUpgrade() {
  if (!on_upgrade_ || phase_ == Phase::kHello) return;
  const absl::Status why = phase_ == Phase::kClosed ? closed_ : why_not_rdma();
  if (phase_ == Phase::kLinked && ReasonOf(why) == WhyNotRdma::kPending && !why.ok()) return;
  upgrade_call_.Post(loop_,
                     [why, done = std::exchange(on_upgrade_, nullptr)]() mutable { done(why); });
}

void LinkConnection::Record() {
  UpgradeRecord& record = *parts_.settings->record;
  const WhyNotRdma reason = ReasonOf(why_);
  if (reason == WhyNotRdma::kNotAsked) return;
  // A server hears from every client that wants no RDMA.
  const bool usual = role_ == LinkRole::kServer && reason == WhyNotRdma::kPeerSilent;
  usual ? record.CountFallback(why_) : record.OnFallback(LogName(), why_);
}

// The clients of a server have any number of ports.
std::string LinkConnection::LogName() const {
  if (role_ == LinkRole::kClient) return parts_.tcp->info().peer_name();
  return absl::StrCat("clients of ", parts_.tcp->info().local.ToString());
}

}  // namespace farcall
