// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_RPC_TRAFFIC_CLASS_H_
#define FARCALL_RPC_TRAFFIC_CLASS_H_

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace farcall {

// ChannelOptions and ServerOptions::traffic_class: that of RuntimeOptions.
constexpr int kTrafficClassOfRuntime = -1;

// What ParseTrafficClass takes, for people.
constexpr absl::string_view kTrafficClassExpected =
    "0 to 255 (DSCP << 2), 0x0 to 0xff, or a name: cs0 to cs7, af11 to af43, ef";

// 0 to 255, decimal or 0x hexadecimal; or a DSCP by its name, in capitals or not: cs0 to cs7 (RFC
// 2474), af11 to af43 (RFC 2597), ef (RFC 3246), whose two ECN bits are 0.
absl::StatusOr<int> ParseTrafficClass(absl::string_view text);

}  // namespace farcall

#endif  // FARCALL_RPC_TRAFFIC_CLASS_H_
