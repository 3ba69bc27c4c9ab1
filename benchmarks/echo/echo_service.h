// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_BENCHMARKS_ECHO_ECHO_SERVICE_H_
#define FARCALL_BENCHMARKS_ECHO_ECHO_SERVICE_H_

#include <utility>

#include "benchmarks/common/cpu_usage.h"
#include "benchmarks/echo/echo.pb.h"
#include "rpc/closure.h"
#include "rpc/controller.h"

namespace farcall::bench {

class EchoService final : public Echo {
 public:
  void Call(google::protobuf::RpcController* rpc_controller, const EchoRequest* request,
            EchoResponse* response, google::protobuf::Closure* done) override {
    const ClosureGuard answer(done);
    auto& controller = static_cast<Controller&>(*rpc_controller);
    response->set_text(request->text());
    if (request->keep_attachment()) return;
    controller.response_attachment() = std::move(controller.request_attachment());
  }

  void Usage(google::protobuf::RpcController*, const UsageRequest*, UsageResponse* response,
             google::protobuf::Closure* done) override {
    const ClosureGuard answer(done);
    const CpuSample now = CpuSample::Now();
    response->set_cpu_seconds(now.cpu_seconds);
    response->set_clock_seconds(now.clock_seconds);
  }
};

}  // namespace farcall::bench

#endif  // FARCALL_BENCHMARKS_ECHO_ECHO_SERVICE_H_
