// SPDX-License-Identifier: Apache-2.0

#include "transport/loop/drive/blocking.h"

namespace farcall {
namespace {

thread_local BlockingHook* current_hook = nullptr;

}  // namespace

bool BeforeBlocking() {
  if (current_hook == nullptr) return true;
  if (!current_hook->BeforeBlocking()) return false;
  current_hook->watched.OnBlocking();
  return true;
}

void SetBlockingHook(BlockingHook* hook) { current_hook = hook; }

void BeginWatch(WatchedCode& code) {
  if (current_hook != nullptr) current_hook->watched.Set(code);
}

void EndWatch() {
  if (current_hook != nullptr) current_hook->watched.Clear();
}

}  // namespace farcall
