// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_RPC_REQUEST_META_H_
#define FARCALL_RPC_REQUEST_META_H_

#include <cstdint>
#include <optional>

#include "google/protobuf/descriptor.h"
#include "rpc/channel_options.h"
#include "rpc/controller.h"
#include "rpc/wire/plain_meta.h"
#include "rpc/wire/rpc_meta.pb.h"

namespace farcall {

// Milliseconds for the whole call; below 0: no limit. At most 24 days, which is what the meta can
// say, and what can be added to the time now.
int64_t TimeoutOf(const Controller& controller, const ChannelOptions& options);

// The meta of a request, but for its attachment, compression and checksum: this thread's one, so
// that its memory is used again; valid until the next call on this thread.
wire::RpcMeta& RequestMeta(const google::protobuf::MethodDescriptor& method, uint64_t call_id,
                           Controller& controller, int64_t timeout_ms);

// The same where it has nothing unusual; else nothing. Names are the method's own.
std::optional<PlainMeta::Request> PlainRequestMeta(const google::protobuf::MethodDescriptor& method,
                                                   uint64_t call_id, const Controller& controller,
                                                   int64_t timeout_ms);

}  // namespace farcall

#endif  // FARCALL_RPC_REQUEST_META_H_
