// SPDX-License-Identifier: Apache-2.0

#include "rpc/testing/sim/sim_call.h"

#include <cerrno>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "transport/base/check.h"
#include "transport/testing/test_pattern.h"

namespace farcall {
namespace {

bool IsExpected(int code) {
  switch (code) {
    case 0:
    case ECANCELED:
    case kRpcTimedOut:
    case kFailedSocket:
    case kOvercrowded:
    case kLimit:
    case kLogoff:
    case SimCall::kOwnError:
      return true;
    default:
      return false;
  }
}

}  // namespace

uint64_t SimCallId(absl::string_view message) {
  uint64_t id = 0;
  Check(absl::SimpleAtoi(message, &id), "the message of a simulated call is its id");
  return id;
}

Buffer SimCall::Attachment(uint64_t id, size_t bytes) {
  const TestPattern pattern(id);
  Buffer buffer;
  while (buffer.size() < bytes) buffer.Append(pattern.At(buffer.size(), bytes - buffer.size()));
  return buffer;
}

SimCall::SimCall(const Plan& plan, const Clock& clock) : plan_(plan), clock_(clock) {
  request_.set_message(absl::StrCat(plan.id));
  request_.set_depth(plan.depth);
  controller_.set_timeout_ms(plan.timeout_ms);
  controller_.request_attachment() = Attachment(plan.id, plan.attachment);
}

void SimCall::Start(Channel& channel, std::function<void()> then) {
  then_ = std::move(then);
  started_ = clock_.Now();
  inside_start_ = true;
  test::TestService_Stub(&channel).Echo(&controller_, &request_, &response_, this);
  inside_start_ = false;
}

void SimCall::Run() {
  ended_inside_start_ |= inside_start_;
  ended_at_ = clock_.Now();
  if (++ends_ == 1 && then_) then_();
}

bool SimCall::AttachmentIsRight() {
  const TestPattern pattern(plan_.id);
  const Buffer& attachment = controller_.response_attachment();
  uint64_t offset = 0;
  for (const Buffer::Slice& slice : attachment.slices()) {
    if (pattern.Matching(offset, slice.view()) != slice.length) return false;
    offset += slice.length;
  }
  return true;
}

std::string SimCall::Violation() {
  const std::string name = absl::StrCat("call ", plan_.id, ": ");
  if (ends_ != 1) return absl::StrCat(name, "ended ", ends_, " times");
  if (ended_inside_start_) return absl::StrCat(name, "ended inside CallMethod");
  const int code = controller_.ErrorCode();
  if (!IsExpected(code)) return absl::StrCat(name, "failed: ", code, " ", controller_.ErrorText());
  if (code == 0 && response_.message() != request_.message()) {
    return absl::StrCat(name, "got the answer of call ", response_.message());
  }
  if (code == 0 && !AttachmentIsRight()) return absl::StrCat(name, "got other bytes");
  if (code != 0 && response_.has_message()) return absl::StrCat(name, "failed with an answer");
  // Nothing but timers moves a simulated clock, so a deadline is kept to the nanosecond.
  const auto timeout = std::chrono::milliseconds(plan_.timeout_ms);
  if (plan_.timeout_ms >= 0 && ended_at_ > started_ + timeout) {
    return absl::StrCat(name, "ended after its deadline");
  }
  if (code == kRpcTimedOut && ended_at_ < started_ + timeout) {
    return absl::StrCat(name, "timed out before its deadline");
  }
  return "";
}

uint64_t SimCall::Digest() const {
  uint64_t digest = 14695981039346656037u;
  const auto mix = [&](uint64_t value) { digest = (digest ^ value) * 1099511628211u; };
  mix(plan_.id);
  mix(static_cast<uint64_t>(controller_.ErrorCode()));
  mix(static_cast<uint64_t>(ended_at_.time_since_epoch().count()));
  return digest;
}

}  // namespace farcall
