// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_RPC_SESSION_THREAD_META_H_
#define FARCALL_RPC_SESSION_THREAD_META_H_

#include "rpc/wire/rpc_meta.pb.h"

namespace farcall {

enum class MetaOf { kRequest, kAnswer };

// A cleared meta: this thread's one of requests or answers, so that its memory is used again; valid
// until the next Get on this thread. Also while the thread ends: objects that are destroyed after
// its thread-local ones, as static ones are, may still call. It is then made anew, and stays.
template <MetaOf kOf>
class ThreadMeta {
 public:
  static wire::RpcMeta& Get() {
    if (own_ == nullptr) [[unlikely]] {
      Make();
    }
    own_->Clear();
    return *own_;
  }

 private:
  struct Holder {
    Holder() = default;
    Holder(const Holder&) = delete;
    Holder& operator=(const Holder&) = delete;
    ~Holder() {
      delete own_;
      own_ = nullptr;
    }
  };
  static void Make() {
    own_ = new wire::RpcMeta;
    thread_local const Holder holder;
  }

  // Without a destructor, unlike its holder.
  static inline thread_local constinit wire::RpcMeta* own_ = nullptr;
};

}  // namespace farcall

#endif  // FARCALL_RPC_SESSION_THREAD_META_H_
