// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_RPC_TESTING_LOG_LINES_H_
#define FARCALL_RPC_TESTING_LOG_LINES_H_

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/string_view.h"
#include "rpc/options.h"
#include "transport/loop/loop_testing.h"

namespace farcall {

// The log of a runtime, for tests to look into. Any thread.
class LogLines {
 public:
  // Refers to this, which outlives its use.
  LogSink Sink() {
    return [this](LogSeverity, absl::string_view line) {
      std::lock_guard<std::mutex> lock(mutex_);
      lines_.emplace_back(line);
      changed_.notify_all();
    };
  }
  // Lines that contain `part`.
  int Count(absl::string_view part) {
    std::lock_guard<std::mutex> lock(mutex_);
    return CountLocked(part);
  }
  // Until there is one. False: it did not come within kTestTimeout.
  [[nodiscard]] bool Wait(absl::string_view part) {
    std::unique_lock<std::mutex> lock(mutex_);
    return changed_.wait_for(lock, kTestTimeout, [&] { return CountLocked(part) > 0; });
  }
  std::string All() {
    std::lock_guard<std::mutex> lock(mutex_);
    std::string all;
    for (const std::string& line : lines_) all += line + "\n";
    return all;
  }

 private:
  int CountLocked(absl::string_view part) const {
    return static_cast<int>(
        std::count_if(lines_.begin(), lines_.end(),
                      [&](const std::string& line) { return absl::StrContains(line, part); }));
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::string> lines_;  // guarded by mutex_
};

}  // namespace farcall

#endif  // FARCALL_RPC_TESTING_LOG_LINES_H_
