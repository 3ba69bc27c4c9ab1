// SPDX-License-Identifier: Apache-2.0

#include "rpc/testing/sim/sim_service.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "rpc/closure.h"
#include "rpc/testing/sim/sim_call.h"

namespace farcall {

void SimService::Handle(Controller& controller, const test::EchoRequest& request,
                        test::EchoResponse& response, google::protobuf::Closure* done) {
  const uint64_t id = SimCallId(request.message());
  ++runs_[id];
  response.set_message(request.message());
  TestRandom random(id * 7919 + 3);
  const uint64_t dice = hurry_ ? 0 : random.Below(10);
  if (dice < 3) {
    EchoBack(controller, request, response, done);
  } else if (dice < 5) {
    controller.response_attachment() = SimCall::Attachment(id, random.Size(largest_attachment_));
    done->Run();
  } else if (dice < 6) {
    controller.SetFailed(SimCall::kOwnError, "on purpose");
    done->Run();
  } else if (dice < 7 && request.depth() > 0) {
    HandOn(controller, done);
  } else {
    Keep(controller, done);
  }
}

void SimService::Keep(Controller& controller, google::protobuf::Closure* done) {
  ++wait_for_end_;
  controller.NotifyOnCancel(NewClosure([this] { ++notified_; }));
  kept_.push_back(done);
}

void SimService::HandOn(Controller& controller, google::protobuf::Closure* done) {
  make_call_([&controller, done](bool succeeded) {
    if (!succeeded) controller.SetFailed(SimCall::kOwnError, "the inner call failed");
    done->Run();
  });
}

void SimService::AnswerOne(TestRandom& random) {
  if (kept_.empty()) return;
  std::swap(kept_[random.Below(kept_.size())], kept_.back());
  google::protobuf::Closure* const done = kept_.back();
  kept_.pop_back();
  done->Run();
}

void SimService::AnswerAll() {
  for (google::protobuf::Closure* const done : std::exchange(kept_, {})) done->Run();
}

std::string SimService::Violation(int most_runs) const {
  for (const auto& [id, runs] : runs_) {
    if (runs > most_runs) return absl::StrCat("call ", id, ": its handler ran ", runs, " times");
  }
  if (notified_ != wait_for_end_) {
    return absl::StrCat(wait_for_end_, " handlers called NotifyOnCancel, ", notified_, " were");
  }
  return "";
}

}  // namespace farcall
