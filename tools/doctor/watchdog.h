// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_TOOLS_DOCTOR_WATCHDOG_H_
#define FARCALL_TOOLS_DOCTOR_WATCHDOG_H_

#include <condition_variable>
#include <functional>
#include <mutex>
#include <string>
#include <thread>

#include "absl/strings/string_view.h"
#include "transport/base/time.h"

namespace farcall::doctor {

// Looks on from a thread of its own while another asks drivers, which may never answer: no signal
// ends a call that waits within the kernel, so that only leaving the process is left.
class Watchdog {
 public:
  // Given what was last told.
  using StandsStill = std::function<void(const std::string& progress)>;

  // Calls `stands_still`, on its thread and once, if nothing is told for `limit`.
  Watchdog(Duration limit, StandsStill stands_still);
  Watchdog(const Watchdog&) = delete;
  Watchdog& operator=(const Watchdog&) = delete;
  // Waits for a call that is under way.
  ~Watchdog();

  // Something goes on. Any thread.
  void Report(absl::string_view progress);

 private:
  void Look(Duration limit, const StandsStill& stands_still);

  std::mutex mutex_;
  std::condition_variable changed_;
  // Guarded by mutex_.
  std::string progress_;
  uint64_t told_ = 0;
  bool ending_ = false;
  std::thread thread_;
};

// Says on standard error where it stands still and where to look, and ends the process with the
// status of a host without RDMA.
void EndProcess(const std::string& progress);

}  // namespace farcall::doctor

#endif  // FARCALL_TOOLS_DOCTOR_WATCHDOG_H_
