// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_EXAMPLES_ATTACHMENT_SERVICE_H_
#define FARCALL_EXAMPLES_ATTACHMENT_SERVICE_H_

#include "examples/attachment/block_store.pb.h"
#include "examples/attachment/blocks.h"
#include "farcall/attachment_placer.h"

namespace example {

// The handlers take microseconds and never block: run them inline (handler_threads = 0). The
// service is its own placer: writes are received where their blocks stay.
class BlockService final : public BlockStore, public farcall::AttachmentPlacer {
 public:
  // `blocks` outlive the service.
  explicit BlockService(Blocks& blocks) : blocks_(blocks) {}

  void Info(google::protobuf::RpcController* controller, const InfoRequest* request,
            InfoResponse* response, google::protobuf::Closure* done) override;
  void Read(google::protobuf::RpcController* controller, const ReadRequest* request,
            ReadResponse* response, google::protobuf::Closure* done) override;
  void Write(google::protobuf::RpcController* controller, const WriteRequest* request,
             WriteResponse* response, google::protobuf::Closure* done) override;

  void Place(const farcall::IncomingRequest& request, farcall::PlaceReply reply) override;
  bool WantsMessage(const google::protobuf::MethodDescriptor& method) const override;

 private:
  Blocks& blocks_;
};

}  // namespace example

#endif  // FARCALL_EXAMPLES_ATTACHMENT_SERVICE_H_
