// SPDX-License-Identifier: Apache-2.0

#include "benchmarks/common/settled.h"

#include <chrono>
#include <thread>

#include "absl/strings/str_cat.h"
#include "transport/why_not_rdma.h"

namespace farcall::bench {

absl::StatusOr<std::shared_ptr<const ConnectionInfo>> SettledConnection(
    absl::FunctionRef<void(Controller&)> call, Duration limit) {
  constexpr std::chrono::milliseconds kBetweenCalls{2};
  const auto deadline = std::chrono::steady_clock::now() + limit;
  while (true) {
    Controller controller;
    call(controller);
    const auto& connection = controller.connection();
    if (connection == nullptr) {
      return absl::UnavailableError(
          absl::StrCat("the server cannot be reached: ", controller.ErrorText()));
    }
    if (connection->why_not_rdma != WhyNotRdma::kPending ||
        std::chrono::steady_clock::now() >= deadline) {
      return connection;
    }
    std::this_thread::sleep_for(kBetweenCalls);
  }
}

}  // namespace farcall::bench
