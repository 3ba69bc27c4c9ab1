// SPDX-License-Identifier: Apache-2.0

#include "transport/rdma/cm/port_set_up.h"

#include <algorithm>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "transport/base/check.h"
#include "transport/rdma/cm/port_set_up.pb.h"

namespace farcall {
namespace {

constexpr size_t kMaxData = 255;
constexpr uint32_t kNumbers = 1u << 24;
constexpr uint32_t kMaxServiceLevel = 15;

absl::Status Malformed(absl::string_view what) {
  return absl::InvalidArgumentError(absl::StrCat("malformed set-up: ", what));
}

bool IsMtu(uint32_t mtu) {
  return mtu == 256 || mtu == 512 || mtu == 1024 || mtu == 2048 || mtu == 4096;
}

absl::Status ParseEnd(const rdma::PortSetUp& from, PortSetUp& to) {
  if (from.gid().size() != to.gid.size()) return Malformed("its GID has not 16 bytes");
  if (from.lid() > UINT16_MAX) return Malformed(absl::StrCat("LID ", from.lid()));
  if (from.number() >= kNumbers) return Malformed(absl::StrCat("queue pair ", from.number()));
  if (from.first_packet() >= kNumbers) return Malformed("its packets' number has over 24 bits");
  if (!IsMtu(from.mtu())) return Malformed(absl::StrCat("an MTU of ", from.mtu(), " bytes"));
  if (from.answers() > UINT8_MAX || from.begins() > UINT8_MAX) {
    return Malformed("more than 255 RDMA READs at once");
  }
  if (from.traffic_class() > UINT8_MAX) return Malformed("a traffic class above 255");
  if (from.service_level() > kMaxServiceLevel) return Malformed("a service level above 15");
  std::copy(from.gid().begin(), from.gid().end(), to.gid.begin());
  to.lid = static_cast<uint16_t>(from.lid());
  to.number = from.number();
  to.first_packet = from.first_packet();
  to.mtu = from.mtu();
  to.answers = static_cast<uint8_t>(from.answers());
  to.begins = static_cast<uint8_t>(from.begins());
  to.traffic_class = static_cast<uint8_t>(from.traffic_class());
  to.service_level = static_cast<uint8_t>(from.service_level());
  to.needs_route_header = from.needs_route_header();
  return absl::OkStatus();
}

}  // namespace

std::string EncodePortSetUp(const PortSetUp& message) {
  Check(message.data.size() <= kMaxData, "what rdma_cm carries has at most 255 bytes");
  rdma::PortSetUp out;
  out.set_kind(static_cast<uint32_t>(message.kind));
  out.set_data(message.data);
  if (message.mtu != 0) {
    out.set_gid(message.gid.data(), message.gid.size());
    out.set_lid(message.lid);
    out.set_number(message.number);
    out.set_first_packet(message.first_packet);
    out.set_mtu(message.mtu);
    out.set_answers(message.answers);
    out.set_begins(message.begins);
    out.set_traffic_class(message.traffic_class);
    out.set_service_level(message.service_level);
    out.set_needs_route_header(message.needs_route_header);
  }
  if (message.kind == PortSetUp::Kind::kConnect) out.set_to(message.to.data(), message.to.size());
  return out.SerializeAsString();
}

absl::StatusOr<PortSetUp> ParsePortSetUp(absl::string_view bytes) {
  rdma::PortSetUp in;
  if (!in.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) {
    return Malformed("no message");
  }
  PortSetUp message;
  if (in.kind() == 0 || in.kind() > static_cast<uint32_t>(PortSetUp::Kind::kReject)) {
    return Malformed(absl::StrCat("kind ", in.kind()));
  }
  message.kind = static_cast<PortSetUp::Kind>(in.kind());
  if (in.data().size() > kMaxData) return Malformed("its data have over 255 bytes");
  message.data = in.data();
  const bool connects = message.kind == PortSetUp::Kind::kConnect;
  if (connects || message.kind == PortSetUp::Kind::kAccept) {
    if (absl::Status end = ParseEnd(in, message); !end.ok()) return end;
  }
  if (connects) {
    if (in.to().size() != message.to.size()) return Malformed("the GID offered has not 16 bytes");
    std::copy(in.to().begin(), in.to().end(), message.to.begin());
  }
  return message;
}

}  // namespace farcall
