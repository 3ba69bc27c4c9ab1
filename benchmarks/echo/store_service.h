// SPDX-License-Identifier: Apache-2.0
//
// What is put comes to lie in registered memory of the service, and what is got is sent from there.
// The bytes are not looked at, so the memory is used round and round.

#ifndef FARCALL_BENCHMARKS_ECHO_STORE_SERVICE_H_
#define FARCALL_BENCHMARKS_ECHO_STORE_SERVICE_H_

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

#include "benchmarks/common/store_memory.h"
#include "benchmarks/echo/echo.pb.h"
#include "rpc/attachment_placer.h"
#include "rpc/closure.h"
#include "rpc/controller.h"
#include "rpc/runtime/runtime.h"

namespace farcall::bench {

// Registered memory of so many bytes, which goes when nothing refers to it any more.
inline absl::StatusOr<RegisteredMemory> MakeRegistered(const Runtime& runtime, size_t bytes) {
  auto memory = std::make_shared<std::vector<std::byte>>(bytes);
  return runtime.RegisterMemory(*memory, [memory] {});
}

class StoreService final : public Store, public AttachmentPlacer {
 public:
  // Each of kStoreMemory. The runtime outlives the service.
  StoreService(RegisteredMemory puts, RegisteredMemory gets)
      : puts_(std::move(puts)), gets_(std::move(gets)) {}

  void Place(const IncomingRequest& request, PlaceReply reply) override {
    if (request.attachment_bytes > kMax) return reply.Refuse(EFBIG, "too large");
    reply.Memory(Next(puts_, next_put_, request.attachment_bytes));
  }

  void Put(google::protobuf::RpcController*, const EchoRequest* request, EchoResponse* response,
           google::protobuf::Closure* done) override {
    const ClosureGuard answer(done);
    response->set_text(request->text());
  }

  void Get(google::protobuf::RpcController* rpc_controller, const EchoRequest* request,
           EchoResponse* response, google::protobuf::Closure* done) override {
    const ClosureGuard answer(done);
    auto& controller = static_cast<Controller&>(*rpc_controller);
    if (request->get_bytes() > kMax) return controller.SetFailed(EFBIG, "too large");
    response->set_text(request->text());
    controller.response_attachment() = Next(gets_, next_get_, request->get_bytes());
  }

 private:
  static constexpr size_t kMax = kStoreMemory / 2;

  // The next slot of so many bytes. Any thread.
  static Buffer Next(const RegisteredMemory& memory, std::atomic<size_t>& next, size_t bytes) {
    const size_t slots = kStoreMemory / std::max<size_t>(bytes, 1);
    return memory.Slice(next.fetch_add(1, std::memory_order_relaxed) % slots * bytes, bytes);
  }

  const RegisteredMemory puts_;
  const RegisteredMemory gets_;
  std::atomic<size_t> next_put_ = 0;
  std::atomic<size_t> next_get_ = 0;
};

}  // namespace farcall::bench

#endif  // FARCALL_BENCHMARKS_ECHO_STORE_SERVICE_H_
