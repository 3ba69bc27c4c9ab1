// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_RPC_TRAFFIC_CLASS_H_
#define FARCALL_RPC_TRAFFIC_CLASS_H_

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace farcall {

// ChannelOptions and ServerOptions::traffic_class: what the environment says.
constexpr int kTrafficClassFromEnvironment = -1;

// The traffic class that an option means: `option` itself, or where it is
// kTrafficClassFromEnvironment that of FARCALL_TRAFFIC_CLASS; 0 where that is unset or empty; an
// error where it is something that ParseTrafficClass does not take.
absl::StatusOr<int> TrafficClass(int option);

// 0 to 255, decimal or 0x hexadecimal; or a DSCP by its name, in capitals or not: cs0 to cs7 (RFC
// 2474), af11 to af43 (RFC 2597), ef (RFC 3246), whose two ECN bits are 0.
absl::StatusOr<int> ParseTrafficClass(absl::string_view text);

}  // namespace farcall

#endif  // FARCALL_RPC_TRAFFIC_CLASS_H_
