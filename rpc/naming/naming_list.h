// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_RPC_NAMING_NAMING_LIST_H_
#define FARCALL_RPC_NAMING_NAMING_LIST_H_

#include <cstddef>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "rpc/naming/server_node.h"

namespace farcall {

// Servers as people write them. Pure. A server is
//   TARGET [WEIGHT] [TAG]
// with spaces or tabs between: a target as Target::Parse takes it, a number from 1 to kMaxWeight (1
// if there is none), and a word. One that is named twice, with the same tag, counts once: as
// it was named first. Errors are kInvalidArgument and name the place and the cure.
inline constexpr size_t kMaxServers = 10'000;
inline constexpr size_t kMaxServerListBytes = size_t{1} << 20;
inline constexpr int kMaxWeight = 10'000;
inline constexpr size_t kMaxTag = 255;

// Servers with commas between them: what follows "list://". There is at least one.
absl::StatusOr<std::vector<ServerNode>> ParseServerList(absl::string_view text);

// One server a line; "#" begins a comment, and lines may be empty. There is at least one server. It
// is all or nothing: a file of which one line is not understood may be half written.
absl::StatusOr<std::vector<ServerNode>> ParseServerFile(absl::string_view text);

}  // namespace farcall

#endif  // FARCALL_RPC_NAMING_NAMING_LIST_H_
