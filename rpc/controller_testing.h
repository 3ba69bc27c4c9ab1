// SPDX-License-Identifier: Apache-2.0
//
// For tests of controllers.

#ifndef FARCALL_RPC_CONTROLLER_TESTING_H_
#define FARCALL_RPC_CONTROLLER_TESTING_H_

#include <cstdint>
#include <vector>

#include "rpc/controller.h"

namespace farcall {

// Where calls are under way: remembers what was cancelled.
class CancelledCalls final : public Cancellable {
 public:
  void Cancel(uint64_t call_id) override { cancelled.push_back(call_id); }

  std::vector<uint64_t> cancelled;
};

}  // namespace farcall

#endif  // FARCALL_RPC_CONTROLLER_TESTING_H_
