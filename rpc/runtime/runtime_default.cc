// SPDX-License-Identifier: Apache-2.0

#include <atomic>

#include "rpc/runtime/runtime.h"
#include "transport/loop/loop_group.h"

namespace farcall {

absl::StatusOr<Runtime*> Runtime::Default() {
  // Never destroyed: its threads may outlive main. Without a lock, which a thread might hold while
  // another one calls fork(2), after which no thread would unlock it. A child makes another one.
  static std::atomic<Runtime*> runtime{nullptr};
  Runtime* known = runtime.load();
  if (known != nullptr && known->parts().loops->at(0).process().here()) return known;
  auto made = Create({});
  if (!made.ok()) return made.status();
  if (runtime.compare_exchange_strong(known, made->get())) return made->release();
  return known;
}

}  // namespace farcall
