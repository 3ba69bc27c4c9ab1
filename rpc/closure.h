// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_RPC_CLOSURE_H_
#define FARCALL_RPC_CLOSURE_H_

#include <cstddef>
#include <cstring>
#include <new>
#include <type_traits>
#include <utility>

#include "google/protobuf/stubs/callback.h"
#include "transport/base/sanitizer.h"
#include "transport/base/threads/spare_list.h"

namespace farcall {

// A google::protobuf::Closure of any callable. Runs once and deletes itself:
//   stub.Echo(&controller, &request, &response, NewClosure([&] { ... }));
// Its memory is kept for the next one of the same type, so that calls in a row allocate nothing: of
// each type of callable up to 512 at a time, as long as the process lives.
template <typename F>
google::protobuf::Closure* NewClosure(F&& run) {
  // On cache lines of its own: memory beside it may be another thread's.
  class alignas(64) alignas(std::decay_t<F>) Once final : public google::protobuf::Closure {
   public:
    explicit Once(F&& f) : run_(std::forward<F>(f)) {}
    void Run() override {
      std::decay_t<F> run_now = std::move(run_);
      delete this;
      run_now();
    }

    // AddressSanitizer finds a closure that runs twice by its memory, so it is not kept there.
    static void* operator new(size_t size) {
      void* const kept = kAddressSanitizer ? nullptr : Kept().Take();
      return kept != nullptr ? kept : ::operator new(size, std::align_val_t(alignof(Once)));
    }
    static void operator delete(void* memory) {
      // Without its table of functions, a second Run is a fault at once.
      std::memset(memory, 0, sizeof(void*));
      if (kAddressSanitizer || !Kept().Give(memory))
        ::operator delete(memory, std::align_val_t(alignof(Once)));
    }

   private:
    // Never destroyed: a closure may run while the process ends.
    static auto& Kept() {
      static auto& kept = *new SpareList<void, 512, 32>;
      return kept;
    }

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
