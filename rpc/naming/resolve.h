// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_RPC_NAMING_RESOLVE_H_
#define FARCALL_RPC_NAMING_RESOLVE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "transport/address.h"

namespace farcall {

// The addresses of a host, by getaddrinfo(3) and in its order, at most kMaxAddresses.
// Blocks as long as the system's resolver does: not on a loop.
inline constexpr size_t kMaxAddresses = 16;
absl::StatusOr<std::vector<Address>> Resolve(const std::string& host, uint16_t port);

}  // namespace farcall

#endif  // FARCALL_RPC_NAMING_RESOLVE_H_
