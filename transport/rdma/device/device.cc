// SPDX-License-Identifier: Apache-2.0

#include "transport/rdma/device/device.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "transport/base/check.h"
#include "transport/base/errno_status.h"
#include "transport/rdma/memory/region_keys.h"
#include "transport/why_not_rdma.h"

namespace farcall {
namespace {

// ibv_device_attr::vendor_id of the kernel's own software drivers.
constexpr uint32_t kRxe = 0xffffff;
constexpr uint32_t kSiw = 0x626d74;

LinkLayer LinkLayerOf(const ibv_device& device, const ibv_port_attr& port) {
  if (device.transport_type == IBV_TRANSPORT_IWARP) return LinkLayer::kIwarp;
  if (device.transport_type != IBV_TRANSPORT_IB) return LinkLayer::kUnknown;
  // Unspecified is what drivers said before there was RoCE, ibv_query_port(3).
  return port.link_layer == IBV_LINK_LAYER_ETHERNET ? LinkLayer::kRoce : LinkLayer::kInfiniBand;
}

// IBV_MTU_256 is 1, and each further one is the double.
uint32_t MtuBytes(ibv_mtu mtu) {
  return mtu >= IBV_MTU_256 && mtu <= IBV_MTU_4096 ? 128u << mtu : 0;
}

// Of the pollers that are in use together; with the codes of ibv_query_port(3). 0: others.
uint32_t RateOf(const ibv_port_attr& port) {
  constexpr std::array<std::pair<int, uint32_t>, 5> kDevicePollers = {
      {{1, 1}, {2, 4}, {4, 8}, {8, 12}, {16, 2}}};
  constexpr std::array<std::pair<int, uint32_t>, 8> kMegabits = {{{1, 2'500},
                                                                  {2, 5'000},
                                                                  {4, 10'000},
                                                                  {8, 10'000},
                                                                  {16, 14'000},
                                                                  {32, 25'000},
                                                                  {64, 50'000},
                                                                  {128, 100'000}}};
  const auto find = [](const auto& table, int code) {
    const auto found = std::find_if(table.begin(), table.end(),
                                    [&](const auto& entry) { return entry.first == code; });
    return found == table.end() ? 0 : found->second;
  };
  return find(kDevicePollers, port.active_width) * find(kMegabits, port.active_speed);
}

// An IPv4 address stands in a GID as ::ffff:a.b.c.d.
Address AddressOf(const ibv_gid& gid) {
  constexpr std::array<uint8_t, 12> kMapped = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};
  if (std::memcmp(gid.raw, kMapped.data(), kMapped.size()) == 0) {
    return Address::Ipv4({gid.raw[12], gid.raw[13], gid.raw[14], gid.raw[15]}, 0);
  }
  std::array<uint8_t, 16> ip;
  std::memcpy(ip.data(), gid.raw, ip.size());
  return Address::Ipv6(ip, 0);
}

absl::Status Refused(const DeviceInfo& info, absl::string_view call, int error) {
  return NotRdma(WhyNotRdma::kDeviceRefused,
                 absl::StrCat(info.name, ": ", call, ": ", ErrnoStatus(error).message()));
}

// The entries of all GID tables together, most of which are unused.
absl::StatusOr<size_t> QueryPorts(const VerbsApi& api, ibv_context* context, DeviceInfo& info) {
  size_t gids = 0;
  for (int number = 1; number <= info.caps.phys_port_cnt; ++number) {
    const auto port_number = static_cast<uint8_t>(number);
    ibv_port_attr attr{};
    if (const int error = api.ibv.query_port(context, port_number, &attr); error != 0) {
      return Refused(info, "ibv_query_port", error);
    }
    info.ports.push_back({port_number, attr.state == IBV_PORT_ACTIVE,
                          LinkLayerOf(*context->device, attr), MtuBytes(attr.active_mtu), attr.lid,
                          RateOf(attr)});
    info.ports.back().needs_route_header = (attr.flags & IBV_QPF_GRH_REQUIRED) != 0;
    gids += static_cast<size_t>(std::max(attr.gid_tbl_len, 0));
  }
  return gids;
}

absl::Status QueryGids(const VerbsApi& api, ibv_context* context, size_t table, DeviceInfo& info) {
  std::vector<ibv_gid_entry> entries(table);
  const ssize_t count = api.ibv.query_gid_table(context, entries.data(), entries.size());
  if (count < 0) return Refused(info, "ibv_query_gid_table", static_cast<int>(-count));
  entries.resize(std::min(table, static_cast<size_t>(count)));
  for (const ibv_gid_entry& entry : entries) {
    info.gids.push_back({static_cast<uint8_t>(entry.port_num), entry.gid_index,
                         static_cast<ibv_gid_type>(entry.gid_type), entry.ndev_ifindex,
                         AddressOf(entry.gid), std::to_array(entry.gid.raw)});
  }
  return absl::OkStatus();
}

}  // namespace

absl::string_view LinkLayerName(LinkLayer link_layer) {
  switch (link_layer) {
    case LinkLayer::kInfiniBand:
      return "InfiniBand";
    case LinkLayer::kRoce:
      return "RoCE";
    case LinkLayer::kIwarp:
      return "iWARP";
    case LinkLayer::kUnknown:
      break;
  }
  return "unknown";
}

bool DeviceInfo::active() const {
  return std::any_of(ports.begin(), ports.end(),
                     [](const DevicePort& port) { return port.active; });
}

// Not from the kernel's own software drivers, rxe and siw, whose queue pairs hold no receives
// beside the one of a message that is coming in, and complete that.
bool DeviceInfo::tells_last_receive() const {
  return caps.vendor_id != kRxe && caps.vendor_id != kSiw;
}

bool DeviceInfo::has_windows() const {
  constexpr unsigned int kType2 = IBV_DEVICE_MEM_WINDOW_TYPE_2A | IBV_DEVICE_MEM_WINDOW_TYPE_2B;
  return (caps.device_cap_flags & kType2) != 0 && link_layer() != LinkLayer::kIwarp;
}

bool DeviceInfo::binds_again() const { return caps.vendor_id == kRxe; }

// On RoCE a GID is an IP address of the port's interface, and rdma_cm can bind and resolve only
// what is an address in this namespace. The GIDs of InfiniBand and iWARP say nothing about
// addresses.
bool DeviceInfo::MayCarry(const Address& local) const {
  if (link_layer() != LinkLayer::kRoce) return true;
  return std::any_of(gids.begin(), gids.end(), [&](const DeviceGid& gid) {
    return gid.interface_index != 0 && gid.address == local;
  });
}

LinkLayer DeviceInfo::link_layer() const {
  for (const DevicePort& port : ports) {
    if (port.active) return port.link_layer;
  }
  return ports.empty() ? LinkLayer::kUnknown : ports.front().link_layer;
}

RdmaDeviceStatus StatusOf(const DeviceInfo& info) {
  RdmaDeviceStatus status;
  status.name = info.name;
  status.link_layer = std::string(LinkLayerName(info.link_layer()));
  for (const DevicePort& port : info.ports) {
    status.ports.push_back({port.number, port.active, port.active_mtu});
  }
  for (const DeviceGid& gid : info.gids) {
    if (gid.interface_index == 0) continue;
    std::string address = gid.address.ToString();
    // Of several types, one after the other.
    const auto& known = status.addresses;
    if (std::find(known.begin(), known.end(), address) != known.end()) continue;
    if (known.size() == RdmaDeviceStatus::kMaxAddresses) break;
    status.addresses.push_back(std::move(address));
  }
  return status;
}

absl::StatusOr<DeviceInfo> QueryDevice(const VerbsApi& api, ibv_context* context) {
  DeviceInfo info;
  info.name = api.ibv.get_device_name(context->device);
  if (const int error = api.ibv.query_device(context, &info.caps); error != 0) {
    return Refused(info, "ibv_query_device", error);
  }
  const auto gids = QueryPorts(api, context, info);
  if (!gids.ok()) return gids.status();
  if (absl::Status status = QueryGids(api, context, *gids, info); !status.ok()) return status;
  return info;
}

absl::StatusOr<std::unique_ptr<RdmaDevice>> RdmaDevice::Open(const VerbsApi& api,
                                                             ibv_context* context, size_t index,
                                                             DeviceInfo info,
                                                             RdmaRegistrar& registrar,
                                                             bool relaxed_ordering, bool windows) {
  Check(index < kMaxRdmaDevices, "a device has an index in the keys of regions");
  auto pd = AllocateDomain(api, context);
  if (!pd.ok()) {
    return NotRdma(WhyNotRdma::kDeviceRefused,
                   absl::StrCat(info.name, ": ", pd.status().message()));
  }
  const RdmaRegistrar::Device registered = {index,     info.name,        &api,
                                            pd->get(), relaxed_ordering, windows};
  if (absl::Status status = registrar.AddDevice(registered); !status.ok()) return status;
  return std::unique_ptr<RdmaDevice>(
      new RdmaDevice(api, context, index, std::move(info), registrar, *std::move(pd)));
}

RdmaDevice::RdmaDevice(const VerbsApi& api, ibv_context* context, size_t index, DeviceInfo info,
                       RdmaRegistrar& registrar, ProtectionDomain pd)
    : api_(api),
      context_(context),
      index_(index),
      info_(std::move(info)),
      registrar_(registrar),
      use_(context),
      pd_(std::move(pd)) {}

RdmaDevice::~RdmaDevice() { registrar_.RemoveDevice(index_); }

}  // namespace farcall
