// SPDX-License-Identifier: Apache-2.0
//
// C++20 coroutines over calls: what would be a chain of closures reads from top to bottom.
//
//   farcall::Task<std::string> Greet(example::EchoService_Stub& stub) {
//     farcall::Controller controller;
//     example::EchoRequest request;
//     example::EchoResponse response;
//     request.set_message("hello");
//     if (!co_await farcall::CallAsync(stub, &example::EchoService_Stub::Echo, &controller,
//                                      &request, &response)) {
//       co_return controller.ErrorText();
//     }
//     co_return response.message();
//   }
//
//   std::string greeting = farcall::SyncWait(Greet(stub));
//
// docs/coroutines.md has the rest.

#ifndef FARCALL_RPC_COROUTINE_H_
#define FARCALL_RPC_COROUTINE_H_

#include "rpc/coroutine_all.h"
#include "rpc/coroutine_call.h"
#include "rpc/coroutine_handler.h"
#include "rpc/coroutine_sleep.h"
#include "rpc/coroutine_task.h"
#include "rpc/coroutine_wait.h"

#endif  // FARCALL_RPC_COROUTINE_H_
