// SPDX-License-Identifier: Apache-2.0

#include "transport/base/threads/thread_place.h"

#include <utility>

#include "transport/base/host/cores.h"

namespace farcall {

void ThreadPlace::MoveTo(std::vector<int> cpus) {
  const std::lock_guard<std::mutex> lock(mutex_);
  cpus_ = std::move(cpus);
  for (const pthread_t thread : threads_) static_cast<void>(RunOnlyOn(cpus_, thread));
}

void ThreadPlace::Enter() {
  const std::lock_guard<std::mutex> lock(mutex_);
  threads_.push_back(pthread_self());
  static_cast<void>(RunOnlyOn(cpus_));
}

void ThreadPlace::Leave() {
  const std::lock_guard<std::mutex> lock(mutex_);
  std::erase_if(threads_, [](pthread_t one) { return pthread_equal(one, pthread_self()) != 0; });
}

}  // namespace farcall
