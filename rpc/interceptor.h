// SPDX-License-Identifier: Apache-2.0
//
// Code of the program around each call: the hook for tracing, authentication by user_fields,
// quotas, logs. Interceptors are shared by threads, which may call them at the same time; no loop
// is held, unless a function says so.

#ifndef FARCALL_RPC_INTERCEPTOR_H_
#define FARCALL_RPC_INTERCEPTOR_H_

#include <cstddef>

#include "google/protobuf/descriptor.h"
#include "google/protobuf/message.h"
#include "rpc/controller.h"

namespace farcall {

// ChannelOptions::interceptors, in their order. What one throws fails the call with EINTERNAL,
// where it had not failed before.
class ClientInterceptor {
 public:
  virtual ~ClientInterceptor() = default;
  // In CallMethod, on the caller's thread, once for a call however often it is tried; before the
  // request is serialized, so that it may set user_fields, log_id and the attachment. False: the
  // call ends with what the controller was SetFailed with, and those behind are not asked.
  virtual bool OnCall(const google::protobuf::MethodDescriptor& method, Controller& controller,
                      const google::protobuf::Message& request) = 0;
  // When the call has ended, before its closure runs or CallMethod returns: for those whose OnCall
  // was run, in the opposite order. `response` may be null.
  virtual void OnEnd(const google::protobuf::MethodDescriptor& method, Controller& controller,
                     const google::protobuf::Message* response) {
    static_cast<void>(method);
    static_cast<void>(controller);
    static_cast<void>(response);
  }
};

// ServerOptions::interceptors, in their order; for requests of each protocol. The same holds for
// what they throw.
class ServerInterceptor {
 public:
  virtual ~ServerInterceptor() = default;
  // Where the service has an AttachmentPlacer: before that is asked where the attachment, of so
  // many bytes, shall come to lie. With a loop held: takes microseconds, does not block, and does
  // not call the library. False: as below, and none of the attachment is stored; no other function
  // of this interface is called for the request.
  virtual bool OnIncoming(const google::protobuf::MethodDescriptor& method, Controller& controller,
                          size_t attachment_bytes) {
    static_cast<void>(method);
    static_cast<void>(controller);
    static_cast<void>(attachment_bytes);
    return true;
  }
  // Before the handler, on its thread. False: the handler is not run, and the call fails with
  // what the controller was SetFailed with.
  virtual bool OnRequest(const google::protobuf::MethodDescriptor& method, Controller& controller,
                         const google::protobuf::Message& request) = 0;
  // When the answer is known and before it is sent, on the thread that ran `done`: for those whose
  // OnRequest was run, in the opposite order. `response` is null where the call failed.
  virtual void OnAnswer(const google::protobuf::MethodDescriptor& method, Controller& controller,
                        const google::protobuf::Message* response) {
    static_cast<void>(method);
    static_cast<void>(controller);
    static_cast<void>(response);
  }
};

}  // namespace farcall

#endif  // FARCALL_RPC_INTERCEPTOR_H_
