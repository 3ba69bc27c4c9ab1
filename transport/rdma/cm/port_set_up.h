// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_TRANSPORT_RDMA_CM_PORT_SET_UP_H_
#define FARCALL_TRANSPORT_RDMA_CM_PORT_SET_UP_H_

#include <array>
#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace farcall {

// port_set_up.proto, with its bounds checked.
struct PortSetUp {
  enum class Kind : uint8_t { kConnect = 1, kAccept = 2, kReady = 3, kReject = 4 };

  Kind kind = Kind::kConnect;
  std::string data;
  std::array<uint8_t, 16> gid{};
  uint16_t lid = 0;
  uint32_t number = 0;        // below 2^24, as the next
  uint32_t first_packet = 0;  // IBTA: PSN
  uint32_t mtu = 0;           // of kConnect and kAccept 256, 512, 1024, 2048 or 4096
  uint8_t answers = 0;
  uint8_t begins = 0;
  uint8_t traffic_class = 0;
  uint8_t service_level = 0;  // at most 15
  bool needs_route_header = false;
  std::array<uint8_t, 16> to{};

  bool operator==(const PortSetUp&) const = default;
};

// At most kMaxSetUpBytes (upgrade.h), with `data` of at most 255 bytes.
std::string EncodePortSetUp(const PortSetUp& message);
// kInvalidArgument: what is wrong with it.
absl::StatusOr<PortSetUp> ParsePortSetUp(absl::string_view bytes);

}  // namespace farcall

#endif  // FARCALL_TRANSPORT_RDMA_CM_PORT_SET_UP_H_
