// SPDX-License-Identifier: Apache-2.0

#include "examples/attachment/service.h"

#include <cerrno>
#include <utility>

#include "farcall/closure.h"
#include "farcall/controller.h"

namespace example {
namespace {

farcall::Controller& AsController(google::protobuf::RpcController* controller) {
  return static_cast<farcall::Controller&>(*controller);
}

// Services answer with errno's numbers, or with their own.
int CodeOf(const absl::Status& status) {
  if (absl::IsOutOfRange(status)) return ERANGE;
  return absl::IsResourceExhausted(status) ? ENOMEM : EINVAL;
}

}  // namespace

void BlockService::Info(google::protobuf::RpcController*, const InfoRequest*,
                        InfoResponse* response, google::protobuf::Closure* done) {
  const farcall::ClosureGuard answer(done);
  response->set_block_bytes(blocks_.block_bytes());
  response->set_blocks(blocks_.count());
  response->set_most_blocks(Blocks::kMaxBlocks);
}

void BlockService::Read(google::protobuf::RpcController* rpc_controller, const ReadRequest* request,
                        ReadResponse*, google::protobuf::Closure* done) {
  const farcall::ClosureGuard answer(done);
  farcall::Controller& controller = AsController(rpc_controller);
  const absl::Status status =
      blocks_.Read(request->block(), request->count(), controller.response_attachment());
  if (!status.ok()) controller.SetFailed(CodeOf(status), status.message());
}

void BlockService::Write(google::protobuf::RpcController* rpc_controller,
                         const WriteRequest* request, WriteResponse*,
                         google::protobuf::Closure* done) {
  const farcall::ClosureGuard answer(done);
  farcall::Controller& controller = AsController(rpc_controller);
  // By HTTP, which carries no attachment, nothing was reserved.
  const farcall::Buffer slots = std::move(controller.request_attachment());
  if (slots.empty()) return controller.SetFailed(EINVAL, "0 bytes are no blocks");
  if (blocks_.Commit(request->block(), slots)) return;
  controller.SetFailed(EIO, "the blocks did not come to lie where they were to");
}

bool BlockService::WantsMessage(const google::protobuf::MethodDescriptor& method) const {
  return method.name() == "Write";
}

void BlockService::Place(const farcall::IncomingRequest& request, farcall::PlaceReply reply) {
  const auto* const write = dynamic_cast<const WriteRequest*>(request.message);
  // Of another method, whose handler looks at no attachment.
  if (write == nullptr) return reply.Refuse(EINVAL, "no attachment belongs here");
  auto slots = blocks_.Reserve(write->block(), request.attachment_bytes);
  if (!slots.ok()) return reply.Refuse(CodeOf(slots.status()), slots.status().message());
  farcall::Buffer memory = slots->Share();
  reply.Memory(std::move(memory),
               [this, reserved = *std::move(slots)](const absl::Status& how) mutable {
                 // OK: the handler has them now.
                 if (!how.ok()) blocks_.Release(reserved);
                 reserved.Clear();
               });
}

}  // namespace example
