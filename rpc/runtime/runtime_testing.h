// SPDX-License-Identifier: Apache-2.0
//
// Runtimes for tests.

#ifndef FARCALL_RPC_RUNTIME_RUNTIME_TESTING_H_
#define FARCALL_RPC_RUNTIME_RUNTIME_TESTING_H_

#include <gtest/gtest.h>

#include <memory>
#include <utility>

#include "rpc/runtime/runtime.h"

namespace farcall {

inline std::unique_ptr<Runtime> MakeRuntime(const RuntimeOptions& options = {}) {
  auto runtime = Runtime::Create(options);
  EXPECT_TRUE(runtime.ok()) << runtime.status();
  return *std::move(runtime);
}

inline RuntimeOptions WithLoops(int count) {
  RuntimeOptions options;
  options.event_loops = count;
  return options;
}

}  // namespace farcall

#endif  // FARCALL_RPC_RUNTIME_RUNTIME_TESTING_H_
