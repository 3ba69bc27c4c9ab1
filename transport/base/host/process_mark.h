// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_TRANSPORT_BASE_HOST_PROCESS_MARK_H_
#define FARCALL_TRANSPORT_BASE_HOST_PROCESS_MARK_H_

#include <sys/types.h>

#include <atomic>
#include <cstdint>
#include <memory>

#include "absl/status/status.h"

namespace farcall {

// The process in which it was made, as against a child that fork(2) made of that: which has the
// same memory and descriptors, but none of the threads. Any thread.
class ProcessMark {
 public:
  ProcessMark();
  ProcessMark(const ProcessMark&) = delete;
  ProcessMark& operator=(const ProcessMark&) = delete;
  ~ProcessMark();

  // False: this is a child. One load.
  bool here() const {
    return page_ != nullptr ? page_->load(std::memory_order_relaxed) != 0 : SameNumber();
  }
  // kFailedPrecondition for who is not here().
  absl::Status NotHere() const;

 private:
  bool SameNumber() const;

  const pid_t pid_;
  // A page that the kernel hands to children as zeros; null: it does not.
  std::atomic<uint8_t>* page_ = nullptr;
};

// Keeps what cannot be taken apart in a child, since its threads are not there.
void KeepForEver(std::shared_ptr<const void> what);

}  // namespace farcall

#endif  // FARCALL_TRANSPORT_BASE_HOST_PROCESS_MARK_H_
