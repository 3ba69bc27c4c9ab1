// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_RPC_TESTING_HEALTHY_CLIENT_H_
#define FARCALL_RPC_TESTING_HEALTHY_CLIENT_H_

#include <atomic>
#include <string>
#include <thread>

#include "rpc/testing/eventually.h"
#include "rpc/testing/test_call.h"
#include "rpc/testing/test_peers.h"

namespace farcall {

// A client that calls all the time, beside peers that misbehave: nothing of it may be its business.
class HealthyClient {
 public:
  explicit HealthyClient(const std::string& address, const ChannelOptions& options = Patient())
      : client_(address, options) {
    thread_ = std::thread([this] {
      while (!stop_) {
        TestCall call;
        if (!call.Call(client_.channel()).Echoed()) ++hurt_;
        ++calls_;
      }
    });
  }
  HealthyClient(const HealthyClient&) = delete;
  HealthyClient& operator=(const HealthyClient&) = delete;
  ~HealthyClient() { Stop(); }

  // Whether it is served now.
  [[nodiscard]] bool Serves() {
    const int before = calls_;
    return Eventually([&] { return calls_ > before + 1; }) && hurt_ == 0;
  }
  // Calls that failed.
  int hurt() const { return hurt_; }
  // Ends its calls and its connection.
  void Stop() {
    stop_ = true;
    if (thread_.joinable()) thread_.join();
    client_.Destroy();
  }

 private:
  TestClient client_;
  std::atomic<bool> stop_{false};
  std::atomic<int> calls_{0};
  std::atomic<int> hurt_{0};
  std::thread thread_;
};

}  // namespace farcall

#endif  // FARCALL_RPC_TESTING_HEALTHY_CLIENT_H_
