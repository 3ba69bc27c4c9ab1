// SPDX-License-Identifier: Apache-2.0

#include "transport/loop/drive/polling.h"

#include <algorithm>
#include <iterator>
#include <string>

#include "absl/strings/str_cat.h"
#include "transport/base/option_field.h"

namespace farcall {

namespace {

constexpr absl::string_view kModes[] = {"event", "adaptive", "busy"};

OptionField::OwnForm Form(PollingMode& mode) {
  return {.get = [&mode] { return std::string(kModes[static_cast<size_t>(mode)]); },
          .set =
              [&mode](absl::string_view text) {
                const auto found = std::find(std::begin(kModes), std::end(kModes), text);
                if (found == std::end(kModes)) return false;
                mode = static_cast<PollingMode>(found - std::begin(kModes));
                return true;
              },
          .expected = "event, adaptive or busy"};
}

}  // namespace

std::vector<OptionField> Fields(PollingOptions& options, absl::string_view prefix) {
  return {
      {.name = absl::StrCat(prefix, "mode"),
       .target = Form(options.mode),
       .meaning = "how loops wait: event sleeps at once, adaptive looks for work while that pays, "
                  "busy takes a core for each loop"},
      {.name = absl::StrCat(prefix, "spin"),
       .target = &options.spin,
       .range = {std::chrono::microseconds(1), std::chrono::milliseconds(10)},
       .meaning = "how long an adaptive loop looks for more work after the last"},
  };
}

absl::Status PollingOptions::Validate() const {
  PollingOptions copy = *this;
  return CheckFields(Fields(copy, "polling."));
}

void AdaptiveSpin::Begin(TimePoint now) {
  idle_ = false;
  polls_ = 0;
  last_work_ = now;
}

void AdaptiveSpin::OnWork(TimePoint found, TimePoint done) {
  if (idle_) Count(found - last_work_ <= options_.spin + (pays() ? Duration(0) : kTwoWakeUps));
  idle_ = false;
  polls_ = 0;
  last_work_ = done;
}

AdaptiveSpin::Decision AdaptiveSpin::OnIdle(TimePoint now) {
  idle_ = true;
  switch (options_.mode) {
    case PollingMode::kEvent:
      return Decision::kSleep;
    case PollingMode::kBusy:
      return Spin(kBusyPollsPerYield);
    case PollingMode::kAdaptive:
      break;
  }
  if (!pays() || now - last_work_ > options_.spin) return Decision::kSleep;
  return Spin(kPollsPerYield);
}

AdaptiveSpin::Decision AdaptiveSpin::Spin(int polls_per_yield) {
  if (++polls_ < polls_per_yield) return Decision::kPoll;
  polls_ = 0;
  return Decision::kYield;
}

void AdaptiveSpin::OnYielded(Duration took) {
  if (took > kOthersRan) Count(false);
}

void AdaptiveSpin::Count(bool paid) {
  const bool paid_before = pays();
  score_ = std::clamp(score_ + (paid ? 1 : -1), 0, kMaxScore);
  if (paid_before && !pays()) score_ = 0;
}

}  // namespace farcall
