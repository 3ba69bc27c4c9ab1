// SPDX-License-Identifier: Apache-2.0

#include "tools/doctor/watchdog.h"

#include <unistd.h>

#include <utility>

#include "absl/strings/str_cat.h"
#include "tools/doctor/diagnose.h"

namespace farcall::doctor {

Watchdog::Watchdog(Duration limit, StandsStill stands_still)
    : progress_("beginning"), thread_([this, limit, stands_still = std::move(stands_still)] {
        Look(limit, stands_still);
      }) {}

Watchdog::~Watchdog() {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    ending_ = true;
  }
  changed_.notify_one();
  thread_.join();
}

void Watchdog::Report(absl::string_view progress) {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    progress_ = std::string(progress);
    ++told_;
  }
  changed_.notify_one();
}

void Watchdog::Look(Duration limit, const StandsStill& stands_still) {
  std::unique_lock<std::mutex> lock(mutex_);
  while (!ending_) {
    const uint64_t told = told_;
    if (changed_.wait_for(lock, limit, [&] { return ending_ || told_ != told; })) continue;
    const std::string progress = progress_;
    lock.unlock();
    stands_still(progress);
    return;
  }
}

void EndProcess(const std::string& progress) {
  const std::string text = absl::StrCat("doctor: stands still at \"", progress,
                                        "\": the driver or the kernel does not answer; see dmesg "
                                        "and /proc/",
                                        getpid(), "/stack\n");
  // Nothing that the thread which hangs may hold.
  static_cast<void>(!write(STDERR_FILENO, text.data(), text.size()));
  _exit(kNoRdma);
}

}  // namespace farcall::doctor
