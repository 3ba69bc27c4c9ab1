// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_RPC_NAMING_TARGET_H_
#define FARCALL_RPC_NAMING_TARGET_H_

#include <cstdint>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "transport/address.h"

namespace farcall {

// What a channel was asked to reach. Pure.
struct Target {
  std::string text;                // as the user wrote it, for messages
  std::optional<Address> address;  // null: `host` must be resolved
  std::string host;
  uint16_t port = 0;

  // "host:port", "1.2.3.4:port", "[::1]:port" or "unix:PATH". `lowest_port`: 0 where the
  // system may choose one, to listen on.
  static absl::StatusOr<Target> Parse(absl::string_view text, uint16_t lowest_port = 1);
};

}  // namespace farcall

#endif  // FARCALL_RPC_NAMING_TARGET_H_
