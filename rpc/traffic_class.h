// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_RPC_TRAFFIC_CLASS_H_
#define FARCALL_RPC_TRAFFIC_CLASS_H_

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace farcall {

// ChannelOptions and ServerOptions::traffic_class: what the environment says.
constexpr int kTrafficClassFromEnvironment = -1;

// The traffic class that an option means: `option` itself, or where it is
// kTrafficClassFromEnvironment that of FARCALL_TRAFFIC_CLASS, 0 to 255, decimal or 0x
// hexadecimal; 0 where that is unset or empty; an error where it is something else.
absl::StatusOr<int> TrafficClass(int option);
absl::StatusOr<int> ParseTrafficClass(absl::string_view text);

}  // namespace farcall

#endif  // FARCALL_RPC_TRAFFIC_CLASS_H_
