// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_RPC_RUNTIME_SEND_REQUEST_H_
#define FARCALL_RPC_RUNTIME_SEND_REQUEST_H_

#include <cstdint>

#include "absl/strings/string_view.h"
#include "google/protobuf/descriptor.h"
#include "google/protobuf/message.h"
#include "rpc/channel_options.h"
#include "rpc/cluster/cluster.h"
#include "rpc/cluster/routed_call.h"
#include "rpc/controller.h"
#include "rpc/wire/pack.h"
#include "transport/buffer/block_pool.h"
#include "transport/loop/event_loop.h"

namespace farcall {

// Milliseconds for the whole call; below 0: no limit. At most 24 days, which is what the meta can
// say, and what can be added to the time now.
int64_t TimeoutOf(const Controller& controller, const ChannelOptions& options);

// Ends a call that never came to its cluster.
void FailNow(EventLoop& loop, ClientCall& call, int code, absl::string_view text);

// Serializes a request, packed so, and brings it with the attachment that `controller` has to the
// cluster of `call`, which has its plan. Whatever happens the call completes. No loop is held.
void SendRequest(Cluster& cluster, BlockPool& pool, RoutedCall& call,
                 const google::protobuf::MethodDescriptor& method, Controller& controller,
                 const google::protobuf::Message& request, const Packing& packing,
                 int64_t timeout_ms);

}  // namespace farcall

#endif  // FARCALL_RPC_RUNTIME_SEND_REQUEST_H_
