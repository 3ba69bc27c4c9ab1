// SPDX-License-Identifier: Apache-2.0
//
// The server that is called, and how.

#ifndef FARCALL_TOOLS_FARCALL_PEER_H_
#define FARCALL_TOOLS_FARCALL_PEER_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "rpc/runtime/channel.h"
#include "rpc/runtime/runtime.h"
#include "tools/farcall/text/arguments.h"

namespace farcall::cli {

// Quiet: of the library's log, warnings and errors go to standard error.
absl::StatusOr<std::unique_ptr<Runtime>> MakeRuntime(int event_loops, const Arguments& arguments);

// Those of the options that are about the channel.
std::vector<Option> ChannelFlags();
absl::StatusOr<ChannelOptions> ReadChannelFlags(const Arguments& arguments, Runtime& runtime);

// Connects, and returns the connection. RDMA is set up while calls travel over TCP; this waits
// until it carries them or is known not to, for `limit` at most. kUnavailable: the server cannot be
// reached.
absl::StatusOr<std::shared_ptr<const ConnectionInfo>> Reach(Channel& channel, Duration limit);

// "10.0.0.7:8002 over tcp; not rdma: REASON". `connection` may be null.
std::string Carrier(const ConnectionInfo* connection, bool use_rdma);

// --header k=v, into user fields.
absl::Status AddHeaders(const Arguments& arguments, UserFields& fields);

}  // namespace farcall::cli

#endif  // FARCALL_TOOLS_FARCALL_PEER_H_
