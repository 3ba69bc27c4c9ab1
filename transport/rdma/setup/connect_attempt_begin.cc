// SPDX-License-Identifier: Apache-2.0

#include "absl/status/status.h"
#include "transport/rdma/setup/connect_attempt.h"
#include "transport/why_not_rdma.h"

namespace farcall {

void ConnectAttempt::Begin() {
  if (state_ == ConnectState::kFailed) return;
  const absl::Status ready = host_.Ready();
  if (!ready.ok()) return Finish(ready);
  if (!host_.Keep(shared_from_this(), /*incoming=*/false)) {
    return Finish(absl::CancelledError("this process is ending"));
  }
  if (host_.TakeTurn(*this)) return TryWay();
  // The other half of the time is for connecting.
  in_line_ = true;
  control_.SetTimer(timer_, control_.now() + (deadline_ - control_.now()) / 2);
}

void ConnectAttempt::OnTurn() {
  const auto self = shared_from_this();
  in_line_ = false;
  control_.CancelTimer(timer_);
  TryWay();
}

void ConnectAttempt::OnTime() {
  const auto self = shared_from_this();
  if (!in_line_) {
    return Step(ConnectEvent::kTimeout, absl::DeadlineExceededError("no answer in time"));
  }
  Finish(NotRdma(WhyNotRdma::kCapacity, "too many other connections are being made here"));
}

}  // namespace farcall
