// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_TRANSPORT_LOOP_DRIVE_POLLING_H_
#define FARCALL_TRANSPORT_LOOP_DRIVE_POLLING_H_

#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "transport/base/time.h"

namespace farcall {

enum class PollingMode : uint8_t {
  kEvent,     // sleep as soon as there is nothing to do: least CPU, tens of microseconds more
  kAdaptive,  // look for work a while before sleeping, as long as that pays
  kBusy,      // never sleep: least latency, a whole core for each loop
};

struct OptionField;  // transport/base/option_field.h

struct PollingOptions {
  PollingMode mode = PollingMode::kAdaptive;
  // kAdaptive: how long a loop looks for more work after the last. 1 us to 10 ms.
  Duration spin = std::chrono::microseconds(50);

  absl::Status Validate() const;
};

// All fields, described; they point into `options`. `prefix` comes before each name.
std::vector<OptionField> Fields(PollingOptions& options, absl::string_view prefix);

// When a loop that found nothing to do polls again, gives way, or sleeps. Pure.
//
// Spinning pays when work comes within `spin` of the last. Each such gap counts for it,
// each longer one against it, and so does a core that others wanted meanwhile;
// after a few in a row against it the loop sleeps at once, until gaps are short again.
// A gap that it slept through contains two wake-ups, its own and the peer's, which would
// be gone if both were spinning: it counts as short if it was short but for them.
// After four such gaps one is spun through as a try, which pays if the peer wakes up
// within `spin`; then the peer's gaps become short, and it follows.
class AdaptiveSpin {
 public:
  enum class Decision : uint8_t { kPoll, kYield, kSleep };

  explicit AdaptiveSpin(const PollingOptions& options) : options_(options) {}

  // A thread begins to look for work, after a time in which none did: that is no gap.
  void Begin(TimePoint now);

  // There was work: it was found at `found` and is done at `done`.
  void OnWork(TimePoint found, TimePoint done);
  // There was none. After kYield the caller gives way, and tells by OnYielded.
  Decision OnIdle(TimePoint now);
  // How long giving way took: longer than a context switch means that another thread ran.
  void OnYielded(Duration took);

 private:
  static constexpr int kMaxScore = 8;
  static constexpr int kPaysFrom = 4;
  static constexpr int kPollsPerYield = 4;
  // So that more busy loops than cores do not wait for each other's whole time slices.
  static constexpr int kBusyPollsPerYield = 64;
  static constexpr Duration kOthersRan = std::chrono::microseconds(10);
  // What two wake-ups take, generously: about 20 us each were measured.
  static constexpr Duration kTwoWakeUps = std::chrono::microseconds(100);

  bool pays() const { return score_ >= kPaysFrom; }
  void Count(bool paid);
  Decision Spin(int polls_per_yield);

  PollingOptions options_;
  TimePoint last_work_{};
  int score_ = kMaxScore;
  int polls_ = 0;
  bool idle_ = false;  // since last_work_
};

}  // namespace farcall

#endif  // FARCALL_TRANSPORT_LOOP_DRIVE_POLLING_H_
