// SPDX-License-Identifier: Apache-2.0

#include "examples/kv/service.h"

#include <cerrno>
#include <utility>

#include "absl/strings/str_cat.h"
#include "farcall/closure.h"
#include "farcall/controller.h"

namespace example {
namespace {

farcall::Controller& AsController(google::protobuf::RpcController* controller) {
  return static_cast<farcall::Controller&>(*controller);
}

// Small values are kept as text, however they came, so that they hold no block.
Value Received(const KvPutRequest& request, farcall::Buffer attachment,
               const farcall::Runtime& runtime) {
  Value value;
  if (request.has_value()) {
    value.small = request.value();
  } else if (attachment.size() > Store::kLargeValue) {
    value.large = runtime.RightSized(std::move(attachment));
  } else {
    value.small = attachment.ToString();
  }
  return value;
}

}  // namespace

void KvService::Put(google::protobuf::RpcController* rpc_controller, const KvPutRequest* request,
                    KvPutResponse*, google::protobuf::Closure* done) {
  const farcall::ClosureGuard answer(done);
  farcall::Controller& controller = AsController(rpc_controller);
  const absl::Status put = store_.Put(
      request->key(), Received(*request, std::move(controller.request_attachment()), runtime_));
  if (put.ok()) return;
  controller.SetFailed(absl::IsResourceExhausted(put) ? ENOSPC : EINVAL, put.message());
}

void KvService::Get(google::protobuf::RpcController* rpc_controller, const KvGetRequest* request,
                    KvGetResponse* response, google::protobuf::Closure* done) {
  const farcall::ClosureGuard answer(done);
  Value value;
  response->set_found(store_.Get(request->key(), value));
  if (!response->found()) return;
  if (value.large.empty()) {
    response->set_value(std::move(value.small));
  } else {
    AsController(rpc_controller).response_attachment() = std::move(value.large);
  }
}

void KvService::MultiGet(google::protobuf::RpcController* rpc_controller,
                         const KvMultiGetRequest* request, KvMultiGetResponse* response,
                         google::protobuf::Closure* done) {
  const farcall::ClosureGuard answer(done);
  farcall::Controller& controller = AsController(rpc_controller);
  if (request->key_size() > kMaxKeys) {
    return controller.SetFailed(
        EINVAL, absl::StrCat("at most ", kMaxKeys, " keys, not ", request->key_size()));
  }
  response->mutable_item()->Reserve(request->key_size());
  size_t bytes = 0;
  for (const std::string& key : request->key()) {
    KvMultiGetResponse::Item& item = *response->add_item();
    Value value;
    item.set_found(store_.Get(key, value));
    bytes += value.size();
    if (bytes > kLargestAnswer) {
      return controller.SetFailed(
          E2BIG, absl::StrCat("the values are larger than ", kLargestAnswer, " bytes"));
    }
    if (!value.large.empty()) {
      item.set_attached(static_cast<uint32_t>(value.large.size()));
      controller.response_attachment().Append(std::move(value.large));
    } else if (item.found()) {
      item.set_value(std::move(value.small));
    }
  }
}

void KvService::Delete(google::protobuf::RpcController*, const KvDeleteRequest* request,
                       KvDeleteResponse* response, google::protobuf::Closure* done) {
  const farcall::ClosureGuard answer(done);
  response->set_found(store_.Delete(request->key()));
}

}  // namespace example
