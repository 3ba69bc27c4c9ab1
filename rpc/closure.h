// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_RPC_CLOSURE_H_
#define FARCALL_RPC_CLOSURE_H_

#include <type_traits>
#include <utility>

#include "google/protobuf/stubs/callback.h"

namespace farcall {

// A google::protobuf::Closure of any callable. Runs once and deletes itself:
//   stub.Echo(&controller, &request, &response, NewClosure([&] { ... }));
template <typename F>
google::protobuf::Closure* NewClosure(F&& run) {
  class Once final : public google::protobuf::Closure {
   public:
    explicit Once(F&& f) : run_(std::forward<F>(f)) {}
    void Run() override {
      std::decay_t<F> run_now = std::move(run_);
      delete this;
      run_now();
    }

   private:
    std::decay_t<F> run_;
  };
  return new Once(std::forward<F>(run));
}

// Runs a closure when the scope ends, so that a handler answers on every path.
class ClosureGuard {
 public:
  explicit ClosureGuard(google::protobuf::Closure* done) : done_(done) {}
  ClosureGuard(const ClosureGuard&) = delete;
  ClosureGuard& operator=(const ClosureGuard&) = delete;
  ~ClosureGuard() {
    if (done_ != nullptr) done_->Run();
  }
  // The closure is run by somebody else.
  google::protobuf::Closure* release() { return std::exchange(done_, nullptr); }

 private:
  google::protobuf::Closure* done_;
};

}  // namespace farcall

#endif  // FARCALL_RPC_CLOSURE_H_
