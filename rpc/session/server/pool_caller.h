// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_RPC_SESSION_SERVER_POOL_CALLER_H_
#define FARCALL_RPC_SESSION_SERVER_POOL_CALLER_H_

#include "rpc/dispatch/handler_pool.h"
#include "transport/base/check.h"
#include "transport/loop/event_loop.h"

namespace farcall {

// Calls a thread to the handlers that one turn of a loop has given to the pool, when the turn ends.
// With the loop held.
class PoolCaller final : public Flushable {
 public:
  // `pool` outlives what is called to; null: there is none, and nothing is called.
  PoolCaller(EventLoop& loop, HandlerPool* pool) : loop_(loop), pool_(pool) {}
  PoolCaller(const PoolCaller&) = delete;
  PoolCaller& operator=(const PoolCaller&) = delete;
  ~PoolCaller() { Check(flush_slot == kNotQueued, "who is to call a thread calls it"); }

  void CallLater() { loop_.FlushLater(*this); }
  void CallNow() {
    if (flush_slot == kNotQueued) return;
    loop_.ForgetFlush(*this);
    Flush();
  }
  void Flush() override { pool_->CallThread(); }

 private:
  EventLoop& loop_;
  HandlerPool* const pool_;
};

}  // namespace farcall

#endif  // FARCALL_RPC_SESSION_SERVER_POOL_CALLER_H_
