// SPDX-License-Identifier: Apache-2.0
//
// The hellos of brpc as they travel, computed by hand: of GID ::ffff:10.0.0.1 and queue pair 17.

#ifndef FARCALL_TRANSPORT_BRPC_HELLO_TESTING_H_
#define FARCALL_TRANSPORT_BRPC_HELLO_TESTING_H_

#include <string>

#include "absl/strings/escaping.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/string_view.h"
#include "transport/brpc_end.h"

namespace farcall {

// Of hex digits and blanks.
inline std::string BrpcBytes(absl::string_view hex) {
  return absl::HexStringToBytes(absl::StrReplaceAll(hex, {{" ", ""}}));
}

inline BrpcEnd BrpcFixtureEnd() {
  return {.gid = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 10, 0, 0, 1},
          .lid = 0,
          .number = 17,
          .block_bytes = 8160,
          .send_slots = 128,
          .receive_slots = 128};
}

inline std::string BrpcSecondFixture() {
  return BrpcBytes(
      "52444D41 0028 0002 0001 00001FE0 0080 0080 0000"
      "00000000000000000000FFFF0A000001 00000011");
}

inline std::string BrpcThirdFixture() {
  return BrpcBytes(
      "52444D33 0000001F 08E03F 108001 188001 2000"
      "2A10 00000000000000000000FFFF0A000001 3011");
}

}  // namespace farcall

#endif  // FARCALL_TRANSPORT_BRPC_HELLO_TESTING_H_
