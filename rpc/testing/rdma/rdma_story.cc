// SPDX-License-Identifier: Apache-2.0

#include "rpc/testing/rdma/rdma_story.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "rpc/testing/large_attachments.h"
#include "transport/base/check.h"

namespace farcall {
namespace {

constexpr char kAddress[] = "10.0.0.1:80";
constexpr size_t kAttachments[] = {0, 100 << 10, 10, 20 << 10};
// Virtual. The longest pause before another attempt at anything is that of a channel that replaces
// a plain connection, 10 s; that of the list of devices and of listeners is 3 s.
constexpr Duration kSoon = std::chrono::seconds(20);
constexpr Duration kMoment = std::chrono::milliseconds(20);

}  // namespace

RdmaStory::RdmaStory(const StoryPlan& plan) : plan_(plan), hosts_(plan.change) {
  hosts_.fabric().faults().RecordCalls();
  if (plan_.before) plan_.before(hosts_.fabric());
  hosts_.OnTurn([this] {
    ++outcome_.turns;
    if (plan_.on_turn) plan_.on_turn(hosts_.fabric(), outcome_.turns);
  });
  ServerOptions options = WithRdma(Inline());
  options.runtime = &hosts_.server().runtime();
  server_ = std::make_unique<Server>();
  const absl::Status added = server_->AddService(&service_, SERVER_DOESNT_OWN_SERVICE);
  const absl::Status started = server_->Start(kAddress, options);
  Check(added.ok() && started.ok(), "a server starts, whatever its devices do");
  channel_ = Open();
}

std::unique_ptr<Channel> RdmaStory::Open() {
  return OpenChannel(kAddress, hosts_.client().runtime(), WithRdma(Patient()));
}

StoryOutcome RdmaStory::Play() {
  Traffic(*channel_);
  ComeToRdma();
  Traffic(*channel_);
  for (const uint32_t pair : hosts_.fabric().faults().QueuePairs("fakeA")) {
    hosts_.fabric().faults().BreakQueuePair(pair);
  }
  Traffic(*channel_);
  ComeToRdma();
  Traffic(*channel_);
  const UpgradeCounts counts = hosts_.client().counts();
  outcome_.upgrades = counts.upgrades;
  outcome_.fallbacks =
      std::accumulate(counts.fallbacks.begin(), counts.fallbacks.end(), uint64_t{0});
  Close();
  return std::move(outcome_);
}

void RdmaStory::Violation(const std::string& what) {
  absl::StrAppend(&outcome_.violation, what, "\n");
}

void RdmaStory::Traffic(Channel& channel) {
  for (const size_t attachment : kAttachments) {
    calls_.emplace_back(std::make_unique<TestCall>(std::to_string(calls_.size())), attachment);
    calls_.back().first->controller.request_attachment().Append(PatternBytes(attachment));
    calls_.back().first->Start(channel);
  }
  EndAll();
}

bool RdmaStory::EndAll() {
  const auto ended = [&] {
    return std::all_of(calls_.begin(), calls_.end(),
                       [](const auto& call) { return call.first->ends() > 0; });
  };
  const bool all = hosts_.Until(ended, kSoon);
  // What does not end by itself does with its deadline, later.
  if (!all) Violation("a call did not end");
  Check(all || hosts_.Until(ended, 10 * kSoon), "calls have deadlines");
  for (const auto& [call, attachment] : calls_) CheckCall(*call, attachment);
  calls_.clear();
  return all;
}

void RdmaStory::CheckCall(TestCall& call, size_t attachment) {
  if (call.ends() != 1) Violation(absl::StrCat("a call ended ", call.ends(), " times"));
  if (call.controller.Failed()) return Violation(absl::StrCat("a call failed: ", call.Error()));
  const bool where = call.request.message() == kWhere;
  if (!where && (!call.Echoed() || !IsPattern(call.controller.response_attachment(), attachment))) {
    Violation("a call was answered wrongly");
  }
  const ConnectionInfo& info = *call.controller.connection();
  if ((info.transport == TransportKind::kRdma) != (info.why_not_rdma == WhyNotRdma::kInUse)) {
    Violation(
        absl::StrCat("a call over ", ToString(info.transport), " says: ", Name(info.why_not_rdma)));
  }
}

void RdmaStory::ComeToRdma() {
  if (good() && !OnRdma()) Violation("RDMA is not used again");
}

// Calls go on meanwhile.
bool RdmaStory::OnRdma() {
  const TimePoint began = hosts_.now();
  while (good() && hosts_.now() < began + kSoon) {
    calls_.emplace_back(std::make_unique<TestCall>(kWhere), 0);
    TestCall& call = *calls_.back().first;
    call.Start(*channel_);
    if (!hosts_.Until([&] { return call.ends() > 0; }, kSoon)) {
      EndAll();
      return false;
    }
    const bool there = !call.controller.Failed() &&
                       absl::StartsWith(call.response.message(), "rdma ") &&
                       call.controller.connection()->transport == TransportKind::kRdma;
    EndAll();
    if (there) return true;
    hosts_.RunFor(kMoment);
  }
  return false;
}

void RdmaStory::Close() {
  auto another = Open();
  Traffic(*another);
  // Its calls outlive a channel.
  for (int i = 0; i < 3; ++i) {
    calls_.emplace_back(std::make_unique<TestCall>("late"), 0);
    calls_.back().first->Start(*channel_);
  }
  channel_.reset();
  EndAll();
  outcome_.turns_to_stop = outcome_.turns;
  hosts_.Stop(std::move(server_));
  another.reset();
  if (const std::string left = hosts_.End(); !left.empty()) Violation(left);
  FakeFabric& fabric = hosts_.fabric();
  outcome_.calls = fabric.faults().recorded_calls();
  outcome_.failed_call = fabric.faults().last_failed_call();
  for (const char* const device : {"fakeA", "fakeB"}) {
    outcome_.sends += fabric.counters(device).sends_posted;
    outcome_.receives += fabric.counters(device).messages_in;
  }
  outcome_.log = absl::StrCat(hosts_.client().Log(), hosts_.server().Log());
}

}  // namespace farcall
