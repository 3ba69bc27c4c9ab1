// SPDX-License-Identifier: Apache-2.0

#include "tools/doctor/peer/one_at_a_time.h"

#include <utility>

namespace farcall::doctor {

OneAtATime::~OneAtATime() {
  stop_ = true;
  // Nobody starts any more.
  if (thread_.joinable()) thread_.join();
}

bool OneAtATime::Start(Work work) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (runs_) return false;
  // It has nothing left to do but to tell its result.
  if (thread_.joinable()) thread_.join();
  runs_ = true;
  thread_ = std::thread([this, work = std::move(work)] {
    const std::function<void()> tell = work(stop_);
    {
      const std::lock_guard<std::mutex> ended(mutex_);
      runs_ = false;
    }
    if (tell) tell();
  });
  return true;
}

}  // namespace farcall::doctor
