// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_RPC_SESSION_CANCEL_NOTICE_H_
#define FARCALL_RPC_SESSION_CANCEL_NOTICE_H_

#include <vector>

#include "rpc/session/server_call.h"
#include "transport/loop/event_loop.h"

namespace farcall {

// Notifies the handlers of calls whose connection closed: user code of the loop, since a
// handler may have asked for a callback.
class CancelNotice final : public UserTask {
 public:
  // `calls`: a session's list, not empty. With `loop` held.
  static void Queue(EventLoop& loop, ServerCall* calls) {
    CancelNotice* const notice = new CancelNotice;
    for (ServerCall* call = calls; call != nullptr; call = call->next) {
      call->Ref();
      notice->calls_.push_back(call);
    }
    loop.RunUser(*notice);
  }

  void Run() override {
    for (ServerCall* const call : calls_) {
      call->controller().NotifyCancel(/*closed=*/true);
      call->Unref();
    }
    delete this;
  }

 private:
  std::vector<ServerCall*> calls_;
};

}  // namespace farcall

#endif  // FARCALL_RPC_SESSION_CANCEL_NOTICE_H_
