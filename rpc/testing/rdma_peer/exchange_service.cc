// SPDX-License-Identifier: Apache-2.0

#include "rpc/testing/rdma_peer/exchange_service.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "rpc/closure.h"
#include "rpc/controller.h"
#include "rpc/testing/rdma_peer/pattern_bytes.h"

namespace farcall::rdma_peer {

std::string ExchangeService::Counts::ToString() const {
  return absl::StrCat("calls=", calls, " wrong=", wrong, " doubled=", doubled, " rdma=", rdma,
                      " tcp=", tcp);
}

void ExchangeService::Call(google::protobuf::RpcController* rpc_controller,
                           const ExchangeRequest* request, ExchangeResponse* response,
                           google::protobuf::Closure* done) {
  const ClosureGuard answer(done);
  auto& controller = static_cast<Controller&>(*rpc_controller);
  Buffer& attachment = controller.request_attachment();
  const uint64_t id = request->id();
  const bool right =
      request->text() == PatternText(id) && IsPattern(attachment, id, attachment.size());
  const auto& connection = controller.connection();
  Count(id, right, connection != nullptr && connection->transport == TransportKind::kRdma);
  response->set_id(id);
  response->set_text(PatternText(~id));
  controller.response_attachment() =
      id % 2 == 1 ? std::move(attachment) : PatternBuffer(~id, attachment.size());
}

ExchangeService::Counts ExchangeService::counts() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return counts_;
}

void ExchangeService::Count(uint64_t id, bool right, bool rdma) {
  const std::lock_guard<std::mutex> lock(mutex_);
  ++counts_.calls;
  if (!right) ++counts_.wrong;
  if (!seen_.insert(id).second) ++counts_.doubled;
  ++(rdma ? counts_.rdma : counts_.tcp);
}

}  // namespace farcall::rdma_peer
