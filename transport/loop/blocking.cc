// SPDX-License-Identifier: Apache-2.0

#include "transport/loop/blocking.h"

namespace farcall {
namespace {

thread_local BlockingHook* current_hook = nullptr;

}  // namespace

bool BeforeBlocking() { return current_hook == nullptr || current_hook->BeforeBlocking(); }

void SetBlockingHook(BlockingHook* hook) { current_hook = hook; }

WatchScope::WatchScope(WatchedCode& code) : hook_(current_hook) {
  if (hook_ != nullptr) hook_->watched.Set(code);
}

WatchScope::~WatchScope() {
  if (hook_ != nullptr) hook_->watched.Clear();
}

}  // namespace farcall
