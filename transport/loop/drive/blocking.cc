// SPDX-License-Identifier: Apache-2.0

#include "transport/loop/drive/blocking.h"

namespace farcall {
namespace {

thread_local BlockingHook* current_hook = nullptr;

}  // namespace

absl::Status BeforeBlocking() {
  if (current_hook == nullptr) return absl::OkStatus();
  absl::Status status = current_hook->BeforeBlocking();
  if (status.ok()) current_hook->watched.OnBlocking();
  return status;
}

void SetBlockingHook(BlockingHook* hook) { current_hook = hook; }

void BeginWatch(WatchedCode& code) {
  if (current_hook != nullptr) current_hook->watched.Set(code);
}

void EndWatch() {
  if (current_hook != nullptr) current_hook->watched.Clear();
}

}  // namespace farcall
