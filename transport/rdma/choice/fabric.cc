// SPDX-License-Identifier: Apache-2.0

#include "transport/rdma/choice/fabric.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>

namespace farcall {
namespace {

using Name = std::array<uint8_t, 16>;

constexpr int kIpv4Begins = 96;  // in ::ffff:a.b.c.d
constexpr int kSubnetBits = 64;  // the prefix of a GID of InfiniBand
// Where the length of a network's prefix is not known: what most have.
constexpr int kUsualIpv4 = kIpv4Begins + 24;
constexpr int kUsualIpv6 = 64;

constexpr uint16_t kFullMember = 0x8000;

bool IsLinkLocal(const Name& name) { return name[0] == 0xfe && (name[1] & 0xc0) == 0x80; }

bool IsIpv4(const Name& name) {
  return std::all_of(name.begin(), name.begin() + 10, [](uint8_t byte) { return byte == 0; }) &&
         name[10] == 0xff && name[11] == 0xff;
}

bool PartitionsTalk(uint16_t one, uint16_t other) {
  if (one == 0 || other == 0) return true;
  const bool same = (one & ~kFullMember) == (other & ~kFullMember);
  return same && ((one | other) & kFullMember) != 0;
}

bool LayersTalk(const OwnEnd& own, const OfferedEnd& offered) {
  if (own.link_layer == offered.link_layer) return true;
  // rdma_cm finds out.
  return !own.gid &&
         (own.link_layer == LinkLayer::kUnknown || offered.link_layer == LinkLayer::kUnknown);
}

bool IsOneNetwork(const OwnEnd& own, const OfferedEnd& offered) {
  if (IsLinkLocal(own.name)) return true;
  const int usual = IsIpv4(own.name) ? kUsualIpv4 : kUsualIpv6;
  return CommonBits(own, offered) >= (own.prefix_bits > 0 ? own.prefix_bits : usual);
}

}  // namespace

absl::string_view ToString(Fabric fabric) {
  switch (fabric) {
    case Fabric::kSamePort:
      return "the same port";
    case Fabric::kNetwork:
      return "the same network";
    case Fabric::kRoutes:
      return "by routes";
  }
  return "unknown";
}

int CommonBits(const PortEnd& one, const PortEnd& other) {
  int bits = 0;
  for (size_t i = 0; i < one.name.size(); ++i) {
    const auto differs = static_cast<uint8_t>(one.name[i] ^ other.name[i]);
    bits += std::countl_zero(differs);
    if (differs != 0) break;
  }
  return bits;
}

std::optional<Fabric> FabricOf(const OwnEnd& own, const OfferedEnd& offered) {
  if (!own.usable || own.gid != offered.gid || !LayersTalk(own, offered) ||
      !PartitionsTalk(own.partition, offered.partition)) {
    return std::nullopt;
  }
  if (own.name == offered.name) return Fabric::kSamePort;
  if (own.gid && own.link_layer == LinkLayer::kInfiniBand) {
    // Of another subnet, a router of InfiniBand would have to be asked.
    if (CommonBits(own, offered) < kSubnetBits) return std::nullopt;
    return Fabric::kNetwork;
  }
  if (IsLinkLocal(own.name) != IsLinkLocal(offered.name) ||
      IsIpv4(own.name) != IsIpv4(offered.name)) {
    return std::nullopt;
  }
  return IsOneNetwork(own, offered) ? Fabric::kNetwork : Fabric::kRoutes;
}

}  // namespace farcall
