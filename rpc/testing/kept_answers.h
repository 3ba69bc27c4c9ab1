// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_RPC_TESTING_KEPT_ANSWERS_H_
#define FARCALL_RPC_TESTING_KEPT_ANSWERS_H_

#include <condition_variable>
#include <mutex>
#include <utility>
#include <vector>

#include "rpc/testing/scripted_service.h"
#include "transport/base/check.h"
#include "transport/loop/loop_testing.h"

namespace farcall {

// Handlers that return without an answer, and the closures that they left: run them all
// while the server's runtime is there. Any thread.
class KeptAnswers {
 public:
  KeptAnswers() = default;
  KeptAnswers(const KeptAnswers&) = delete;
  KeptAnswers& operator=(const KeptAnswers&) = delete;
  ~KeptAnswers() { Check(kept_.empty(), "a test answers what it kept"); }

  // Echoes, but for the closure, which is kept here. Refers to this, which outlives it.
  EchoHandler Handler() {
    return [this](Controller& controller, const test::EchoRequest& request,
                  test::EchoResponse& response, google::protobuf::Closure* done) {
      response.set_message(request.message());
      controller.response_attachment() = std::move(controller.request_attachment());
      Keep(done);
    };
  }
  void Keep(google::protobuf::Closure* done) {
    std::lock_guard<std::mutex> lock(mutex_);
    kept_.push_back(done);
    ++ever_;
    changed_.notify_all();
  }
  // Until so many were kept since the beginning. False: not within kTestTimeout.
  [[nodiscard]] bool Wait(int count) {
    std::unique_lock<std::mutex> lock(mutex_);
    return changed_.wait_for(lock, kTestTimeout, [&] { return ever_ >= count; });
  }
  // Answers all that are kept now.
  void RunAll() {
    std::vector<google::protobuf::Closure*> now;
    {
      std::lock_guard<std::mutex> lock(mutex_);
      now.swap(kept_);
    }
    for (google::protobuf::Closure* const done : now) done->Run();
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  // Guarded by mutex_.
  std::vector<google::protobuf::Closure*> kept_;
  int ever_ = 0;
};

}  // namespace farcall

#endif  // FARCALL_RPC_TESTING_KEPT_ANSWERS_H_
