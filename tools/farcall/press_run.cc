// SPDX-License-Identifier: Apache-2.0

#include "tools/farcall/press_run.h"

#include <span>
#include <utility>

#include "benchmarks/common/call_load.h"
#include "benchmarks/common/load_run.h"

namespace farcall::cli {
namespace {

using bench::CallCounts;
using bench::CallLoad;
using bench::CallTally;

class PressCall final : public CallLoad::Slot, public google::protobuf::Closure {
 public:
  PressCall(Channel& channel, const PressLoad& what, CallTally& tally)
      : channel_(channel), what_(what), tally_(tally), response_(what.response->New()) {}

  void Begin(CallLoad& load) override {
    load_ = &load;
    controller_.Reset();
    response_->Clear();
    for (const auto& [key, value] : what_.headers.all()) {
      controller_.request_user_fields().Set(key, value);
    }
    if (what_.attachment != nullptr) {
      controller_.request_attachment().AppendUserData(
          what_.attachment->data(), what_.attachment->size(), [kept = what_.attachment] {});
    }
    channel_.CallMethod(what_.method, &controller_, what_.request, response_.get(), this);
  }
  void Run() override {
    load_->OnEnd(*this, tally_, controller_.ErrorCode(), controller_.ErrorText());
  }

 private:
  Channel& channel_;
  const PressLoad& what_;
  CallTally& tally_;
  CallLoad* load_ = nullptr;
  Controller controller_;
  const std::unique_ptr<google::protobuf::Message> response_;
};

}  // namespace

PressSummary RunPress(const PressLoad& load, const std::atomic<bool>& stop,
                      const std::function<void(double, double, const CallCounts&)>& each_second) {
  bench::LoadPlan plan;
  plan.loads = static_cast<int>(load.channels.size());
  plan.slots = load.concurrency;
  plan.rate = load.qps;
  plan.measured = load.duration;
  plan.make = [&load](int channel, std::span<CallTally> tallies) {
    return std::make_unique<PressCall>(*load.channels[static_cast<size_t>(channel)], load,
                                       tallies.front());
  };
  using Seconds = bench::LoadPlan::Seconds;
  plan.each_second = [&](Seconds at, Seconds since, const CallCounts& counts) {
    each_second(at.count(), since.count(), counts);
  };
  plan.stop = &stop;
  bench::LoadOutcome outcome = RunLoad(plan);
  PressSummary summary;
  summary.seconds = outcome.measured.count();
  summary.counts = std::move(outcome.kinds.front());
  summary.not_begun = outcome.not_begun;
  summary.method = load.method->full_name();
  summary.concurrency = load.concurrency;
  summary.connections = plan.loads;
  summary.qps_asked = load.qps;
  return summary;
}

}  // namespace farcall::cli
