// SPDX-License-Identifier: Apache-2.0

#include "examples/attachment/service.h"

#include <cerrno>
#include <utility>

#include "rpc/closure.h"
#include "rpc/controller.h"

namespace example {
namespace {

farcall::Controller& AsController(google::protobuf::RpcController* controller) {
  return static_cast<farcall::Controller&>(*controller);
}

// Services answer with errno's numbers, or with their own.
void FailWith(const absl::Status& status, farcall::Controller& controller) {
  if (status.ok()) return;
  const int code = absl::IsOutOfRange(status)          ? ERANGE
                   : absl::IsResourceExhausted(status) ? ENOMEM
                                                       : EINVAL;
  controller.SetFailed(code, status.message());
}

}  // namespace

void BlockService::Info(google::protobuf::RpcController*, const InfoRequest*,
                        InfoResponse* response, google::protobuf::Closure* done) {
  const farcall::ClosureGuard answer(done);
  response->set_block_bytes(blocks_.block_bytes());
  response->set_blocks(blocks_.count());
  response->set_most_blocks(Blocks::kMostBlocks);
}

void BlockService::Read(google::protobuf::RpcController* rpc_controller, const ReadRequest* request,
                        ReadResponse*, google::protobuf::Closure* done) {
  const farcall::ClosureGuard answer(done);
  farcall::Controller& controller = AsController(rpc_controller);
  FailWith(blocks_.Read(request->block(), request->count(), controller.response_attachment()),
           controller);
}

void BlockService::Write(google::protobuf::RpcController* rpc_controller,
                         const WriteRequest* request, WriteResponse*,
                         google::protobuf::Closure* done) {
  const farcall::ClosureGuard answer(done);
  farcall::Controller& controller = AsController(rpc_controller);
  FailWith(blocks_.Write(request->block(), std::move(controller.request_attachment())), controller);
}

}  // namespace example
