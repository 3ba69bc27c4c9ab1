// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_RPC_TESTING_SOAK_SOAK_CALL_H_
#define FARCALL_RPC_TESTING_SOAK_SOAK_CALL_H_

#include <atomic>
#include <cstdint>
#include <functional>
#include <utility>

#include "google/protobuf/stubs/callback.h"
#include "rpc/controller.h"
#include "rpc/testing/soak/soak.pb.h"
#include "transport/base/time.h"

namespace farcall {

// One call after the other. As a closure it is not deleted by its run: a call that ends twice is
// counted, and is no crash.
class SoakCall final : public google::protobuf::Closure {
 public:
  enum class Kind : uint8_t {
    kRead,        // may run twice
    kBackedRead,  // with a backup request
    kWrite,       // must not run twice
  };

  // `on_end`: a call has ended, on the thread that ends it; the next is not prepared before it
  // returns.
  explicit SoakCall(std::function<void(SoakCall&)> on_end) : on_end_(std::move(on_end)) {}

  bool idle() const { return !busy_; }
  // A new call, while it is idle; sizes and times are chosen by `choice`, which is random.
  void Prepare(Kind kind, uint64_t id, uint64_t choice);
  void Run() override;

  Kind kind() const { return kind_; }
  TimePoint started() const { return started_; }
  TimePoint ended() const { return ended_; }
  // Whether the answer is that of this call.
  bool Answered();
  int ended_twice() const { return ended_twice_; }

  Controller controller;
  soak::Request request;
  soak::Response response;

 private:
  const std::function<void(SoakCall&)> on_end_;
  std::atomic<bool> busy_{false};
  std::atomic<int> ended_twice_{0};
  Kind kind_ = Kind::kRead;
  size_t attached_ = 0;
  TimePoint started_;
  TimePoint ended_;
};

}  // namespace farcall

#endif  // FARCALL_RPC_TESTING_SOAK_SOAK_CALL_H_
