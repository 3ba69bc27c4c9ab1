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

WatchScope::WatchScope(WatchedCode& code) : hook_(current_hook) {
  if (hook_ != nullptr) hook_->watched.Set(code);
}

WatchScope::~WatchScope() {
  if (hook_ != nullptr) hook_->watched.Clear();
}

}  // namespace farcall
