// SPDX-License-Identifier: Apache-2.0

#include "rpc/runtime/settled_connection.h"

#include <chrono>
#include <thread>

#include "absl/strings/str_cat.h"
#include "transport/why_not_rdma.h"

namespace farcall {

absl::StatusOr<std::shared_ptr<const ConnectionInfo>> SettledConnection(
    absl::FunctionRef<void(Controller&)> call, Duration limit) {
  constexpr std::chrono::milliseconds kBetweenCalls{2};
  const auto began = std::chrono::steady_clock::now();
  while (true) {
    Controller controller;
    call(controller);
    const auto& connection = controller.connection();
    if (connection == nullptr) {
      return absl::UnavailableError(
          absl::StrCat("the server cannot be reached: ", controller.ErrorText()));
    }
    if (connection->why_not_rdma != WhyNotRdma::kPending ||
        std::chrono::steady_clock::now() - began >= limit) {
      return connection;
    }
    std::this_thread::sleep_for(kBetweenCalls);
  }
}

}  // namespace farcall
