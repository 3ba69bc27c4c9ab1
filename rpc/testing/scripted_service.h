// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_RPC_TESTING_SCRIPTED_SERVICE_H_
#define FARCALL_RPC_TESTING_SCRIPTED_SERVICE_H_

#include <atomic>
#include <functional>
#include <utility>

#include "rpc/controller.h"
#include "rpc/testing/test_service.pb.h"

namespace farcall {

// What a test has Echo do. Any thread; as a handler it runs `done`, now or later.
using EchoHandler =
    std::function<void(Controller& controller, const test::EchoRequest& request,
                       test::EchoResponse& response, google::protobuf::Closure* done)>;

// Sends message and attachment back.
inline void EchoBack(Controller& controller, const test::EchoRequest& request,
                     test::EchoResponse& response, google::protobuf::Closure* done) {
  response.set_message(request.message());
  controller.response_attachment() = std::move(controller.request_attachment());
  done->Run();
}

class ScriptedService final : public test::TestService {
 public:
  explicit ScriptedService(EchoHandler echo) : echo_(std::move(echo)) {}

  void Echo(google::protobuf::RpcController* controller, const test::EchoRequest* request,
            test::EchoResponse* response, google::protobuf::Closure* done) override {
    runs_.fetch_add(1);
    echo_(static_cast<Controller&>(*controller), *request, *response, done);
  }
  void Idle(google::protobuf::RpcController*, const test::Nothing*, test::Nothing*,
            google::protobuf::Closure* done) override {
    done->Run();
  }

  // How often Echo was entered.
  int runs() const { return runs_.load(); }

 private:
  const EchoHandler echo_;
  std::atomic<int> runs_{0};
};

}  // namespace farcall

#endif  // FARCALL_RPC_TESTING_SCRIPTED_SERVICE_H_
