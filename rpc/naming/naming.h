// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_RPC_NAMING_NAMING_H_
#define FARCALL_RPC_NAMING_NAMING_H_

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "rpc/naming/server_node.h"
#include "rpc/runtime_parts.h"
#include "transport/loop/event_loop.h"

namespace farcall {

// Tells the servers behind a target, and tells again when they change:
//   "host:port", "1.2.3.4:port", "[::1]:port", "unix:PATH"   one server
//   "list://a:1,b:2,10.0.0.7:8002 3"          servers, each perhaps with a weight and a tag
//   "file://PATH"      one server a line ("#" begins a comment), watched
//   "dns://name:port"  all addresses of a name, asked again by TTL and by Refresh
//
// What a node bears:
//   - From "name:port" (alone, in a list or in a file): no address (kNone), and host "name:port", a
//     text for Target::Parse. ConnectToTarget resolves the name at each connect and tries its
//     addresses in turn: it is one server, however many addresses it has.
//   - From a number or a path: the address, and no host.
//   - From dns://: an address each, and host "name:port".
class Naming {
 public:
  using Nodes = std::vector<ServerNode>;
  // With the loop held, not from inside Start: at once where nothing must be looked up, else
  // when it is known; then at each change. An error (the name does not resolve, the file cannot
  // be read) is reported as long as there was no good answer. After that the last good answer
  // stays, and an error is logged once an episode.
  using OnNodes = std::function<void(absl::StatusOr<Nodes>)>;

  // Syntax only: kInvalidArgument names the place and what is allowed.
  static absl::Status Check(absl::string_view target);

  // `target` passes Check. With `loop` held; what `parts` point to outlives this.
  static std::unique_ptr<Naming> Start(const RuntimeParts& parts, EventLoop& loop,
                                       absl::string_view target, Duration interval,
                                       OnNodes on_nodes);
  // With the loop held; `on_nodes` is not called any more.
  virtual ~Naming() = default;
  // A server failed: look again soon (at most once a second), without waiting for the interval.
  // With the loop held.
  virtual void Refresh() = 0;
};

}  // namespace farcall

#endif  // FARCALL_RPC_NAMING_NAMING_H_
