// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_RPC_COROUTINE_HANDLER_H_
#define FARCALL_RPC_COROUTINE_HANDLER_H_

#include "google/protobuf/service.h"
#include "google/protobuf/stubs/callback.h"
#include "rpc/coroutine_task.h"

namespace farcall {

// A service method whose work is a coroutine. Begins `task` on this thread and returns at its
// first wait; `done` is run when it has ended. A task that throws fails the call with EINTERNAL
// and the exception's text.
//
//   void Echo(google::protobuf::RpcController* controller, const EchoRequest* request,
//             EchoResponse* response, google::protobuf::Closure* done) override {
//     farcall::RunHandler(controller, done, EchoTask(*request, *response));
//   }
//   farcall::Task<> EchoTask(const EchoRequest& request, EchoResponse& response);
//
// Request, response and controller live until then. The service must too: a server that is
// destroyed does not wait for tasks that wait.
void RunHandler(google::protobuf::RpcController* controller, google::protobuf::Closure* done,
                Task<> task);

}  // namespace farcall

#endif  // FARCALL_RPC_COROUTINE_HANDLER_H_
