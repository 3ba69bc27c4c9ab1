// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_EXAMPLES_KV_SERVICE_H_
#define FARCALL_EXAMPLES_KV_SERVICE_H_

#include "examples/kv/kv.pb.h"
#include "examples/kv/store.h"
#include "farcall/runtime.h"

namespace example {

// The handlers take microseconds and never block: run them inline (handler_threads = 0).
class KvService final : public Kv {
 public:
  static constexpr int kMaxKeys = 128;
  // Of all values in one answer, beyond which MultiGet fails with E2BIG.
  static constexpr size_t kLargestAnswer = size_t{32} << 20;

  // Both outlive the service. `runtime` has the memory of values that cannot stay in the blocks in
  // which they came, since that would pin too much.
  KvService(Store& store, const farcall::Runtime& runtime) : store_(store), runtime_(runtime) {}

  void Put(google::protobuf::RpcController* controller, const KvPutRequest* request,
           KvPutResponse* response, google::protobuf::Closure* done) override;
  void Get(google::protobuf::RpcController* controller, const KvGetRequest* request,
           KvGetResponse* response, google::protobuf::Closure* done) override;
  void MultiGet(google::protobuf::RpcController* controller, const KvMultiGetRequest* request,
                KvMultiGetResponse* response, google::protobuf::Closure* done) override;
  void Delete(google::protobuf::RpcController* controller, const KvDeleteRequest* request,
              KvDeleteResponse* response, google::protobuf::Closure* done) override;

 private:
  Store& store_;
  const farcall::Runtime& runtime_;
};

}  // namespace example

#endif  // FARCALL_EXAMPLES_KV_SERVICE_H_
