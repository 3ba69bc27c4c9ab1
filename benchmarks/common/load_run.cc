// SPDX-License-Identifier: Apache-2.0

#include "benchmarks/common/load_run.h"

#include <algorithm>
#include <thread>
#include <utility>

#include "benchmarks/common/open_loop_schedule.h"

namespace farcall::bench {
namespace {

using Time = CallLoad::Time;

// How often it is looked whether the run was stopped.
constexpr std::chrono::milliseconds kLook{50};

Time SteadyNow() { return std::chrono::steady_clock::now(); }

class Run {
 public:
  explicit Run(const LoadPlan& plan)
      : plan_(plan),
        start_(SteadyNow()),
        begin_(start_ + std::chrono::duration_cast<Time::duration>(plan.warmup)),
        end_(begin_ + std::chrono::duration_cast<Time::duration>(plan.measured)),
        total_(static_cast<size_t>(plan.kinds)) {
    for (int i = 0; i < plan.loads; ++i) Add(i);
  }

  LoadOutcome ToTheEnd() {
    for (int i = 0; i < plan_.loads; ++i) Begin(i);
    if (begin_ > start_) {
      SleepUntil(begin_);
      Take();
      measured_from_ = last_ = SteadyNow();
    }
    for (Time tick = begin_ + std::chrono::seconds(1); tick <= end_ && !Stopped();
         tick += std::chrono::seconds(1)) {
      SleepUntil(tick);
      Report();
    }
    SleepUntil(end_);
    const bool whole = SteadyNow() >= end_;
    for (const auto& load : loads_) load->Stop();
    for (std::thread& pacer : pacers_) pacer.join();
    for (const auto& load : loads_) load->WaitForLast();
    const Time ended = SteadyNow();
    AddToTotal(Take());
    LoadOutcome outcome{ended - measured_from_, std::move(total_)};
    for (const auto& load : loads_) outcome.not_begun += whole ? load->not_begun() : 0;
    return outcome;
  }

 private:
  using Tallies = std::unique_ptr<CallTally[]>;

  void Add(int number) {
    const auto kinds = static_cast<size_t>(plan_.kinds);
    tallies_.push_back(std::make_unique<CallTally[]>(kinds));
    // The first ones get what is left over.
    const int more = number < plan_.slots % plan_.loads ? 1 : 0;
    const int count = std::max(1, plan_.slots / plan_.loads + more);
    std::vector<std::unique_ptr<CallLoad::Slot>> slots;
    for (int i = 0; i < count; ++i) {
      slots.push_back(plan_.make(number, std::span<CallTally>(tallies_.back().get(), kinds)));
    }
    loads_.push_back(std::make_unique<CallLoad>(std::move(slots), end_));
  }
  void Begin(int number) {
    CallLoad& load = *loads_[static_cast<size_t>(number)];
    if (plan_.rate == 0) return load.Start();
    pacers_.emplace_back(
        [&load, schedule = OpenLoopSchedule(start_, plan_.rate, number, plan_.loads)] {
          load.Pace(schedule);
        });
  }
  bool Stopped() const { return plan_.stop != nullptr && *plan_.stop; }
  void SleepUntil(Time when) const {
    for (Time now = SteadyNow(); !Stopped() && now < when; now = SteadyNow()) {
      std::this_thread::sleep_for(std::min<Time::duration>(kLook, when - now));
    }
  }
  std::vector<CallCounts> Take() {
    std::vector<CallCounts> taken(static_cast<size_t>(plan_.kinds));
    for (const Tallies& tallies : tallies_) {
      for (size_t kind = 0; kind < taken.size(); ++kind) taken[kind].Merge(tallies[kind].Take());
    }
    return taken;
  }
  void AddToTotal(const std::vector<CallCounts>& taken) {
    for (size_t kind = 0; kind < taken.size(); ++kind) total_[kind].Merge(taken[kind]);
  }
  void Report() {
    const std::vector<CallCounts> taken = Take();
    const Time now = SteadyNow();
    AddToTotal(taken);
    if (plan_.each_second != nullptr) {
      CallCounts all;
      for (const CallCounts& of_kind : taken) all.Merge(of_kind);
      plan_.each_second(now - measured_from_, now - last_, all);
    }
    last_ = now;
  }

  const LoadPlan& plan_;
  const Time start_;
  const Time begin_;
  const Time end_;
  Time measured_from_ = start_;
  Time last_ = start_;
  std::vector<Tallies> tallies_;
  std::vector<std::unique_ptr<CallLoad>> loads_;
  std::vector<std::thread> pacers_;
  std::vector<CallCounts> total_;
};

}  // namespace

LoadOutcome RunLoad(const LoadPlan& plan) { return Run(plan).ToTheEnd(); }

}  // namespace farcall::bench
