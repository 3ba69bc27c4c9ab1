// SPDX-License-Identifier: Apache-2.0

#include "rpc/session/server/front_request.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "rpc/errors.h"
#include "rpc/session/server/limits/timeout_options.h"
#include "rpc/session/server/server_session.h"

namespace farcall {
namespace {

TimePoint After(TimePoint now, Duration time) {
  return time >= TimePoint::max() - now ? TimePoint::max() : now + time;
}

}  // namespace

FrontRequest::FrontRequest(ServerSession& session)
    : session_(session), timer_([this] { OnTime(); }) {}

void FrontRequest::Set(ServerFrameCall& call, size_t frame, size_t attachment) {
  call_ = &call;
  frame_ = frame;
  placed_range_.Set(frame, attachment);
  session_.SetReceiving(true);
  EventLoop& loop = session_.loop();
  answer_due_ = After(loop.now(), TimeoutLimits(session_.core()->options).read);
  if (Due() != TimePoint::max()) loop.SetTimer(timer_, Due());
}

void FrontRequest::Clear() {
  if (call_ == nullptr) return;
  session_.loop().CancelTimer(timer_);
  session_.SetReceiving(false);
  placed_range_.Clear();
  std::exchange(call_, nullptr)->Unref();
}

size_t FrontRequest::Await(size_t came) {
  const size_t worth = placed_range_.Await(came, frame_);
  // What is read before its place is known is copied.
  if (call_->awaits_place()) session_.SetBusy(true);
  return worth;
}

Buffer FrontRequest::PlaceFor(size_t ahead, size_t bytes) {
  const PlacedRange::Part part = placed_range_.Next(ahead, bytes);
  return call_ != nullptr && part.bytes > 0 ? call_->PlaceFor(part.offset, part.bytes) : Buffer();
}

size_t FrontRequest::Lying(const Buffer& input) const {
  return call_ != nullptr ? call_->Lying(input, frame_ - placed_range_.attachment()) : 0;
}

TimePoint FrontRequest::Due() const {
  const TimePoint deadline = call_->controller().deadline();
  return call_->awaits_place() ? std::min(deadline, answer_due_) : deadline;
}

// What still comes of it is dropped when it is read.
void FrontRequest::OnTime() {
  if (call_->given_up()) return;
  EventLoop& loop = session_.loop();
  if (loop.now() < Due()) {
    if (Due() != TimePoint::max()) loop.SetTimer(timer_, Due());
    return;
  }
  if (call_->controller().deadline() <= loop.now()) {
    session_.core()->counters.late.fetch_add(1, std::memory_order_relaxed);
    call_->GiveUp(kRpcTimedOut, "the deadline passed before the attachment had come");
  } else {
    call_->GiveUp(kRpcTimedOut,
                  "the service did not say within read_timeout_ms where the attachment shall lie");
  }
}

}  // namespace farcall
