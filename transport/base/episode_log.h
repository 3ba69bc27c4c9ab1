// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_TRANSPORT_BASE_EPISODE_LOG_H_
#define FARCALL_TRANSPORT_BASE_EPISODE_LOG_H_

#include <atomic>

#include "absl/functional/any_invocable.h"
#include "absl/strings/string_view.h"

namespace farcall {

// One line for a trouble that lasts, not one for each time it is met. Any thread.
class EpisodeLog {
 public:
  // Any thread, also with a loop held: it neither blocks nor calls back.
  using Sink = absl::AnyInvocable<void(absl::string_view) const>;

  // `sink`, which may be empty, outlives this.
  explicit EpisodeLog(const Sink& sink) : sink_(sink) {}

  void OnFailure(absl::string_view line) {
    if (!troubled_.exchange(true, std::memory_order_relaxed) && sink_) sink_(line);
  }
  void OnRecovery() {
    if (troubled_.load(std::memory_order_relaxed)) {
      troubled_.store(false, std::memory_order_relaxed);
    }
  }

 private:
  const Sink& sink_;
  std::atomic<bool> troubled_{false};
};

}  // namespace farcall

#endif  // FARCALL_TRANSPORT_BASE_EPISODE_LOG_H_
