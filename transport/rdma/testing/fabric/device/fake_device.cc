// SPDX-License-Identifier: Apache-2.0

#include "transport/rdma/testing/fabric/device/fake_device.h"

#include <arpa/inet.h>
#include <string.h>

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "transport/base/check.h"
#include "transport/rdma/testing/fabric/device/fake_host.h"

namespace farcall {
namespace {

void CopyName(absl::string_view from, char* to, size_t size) {
  Check(!from.empty() && from.size() < size, "a device needs a name of fewer than 64 bytes");
  memcpy(to, from.data(), from.size());
}

ibv_gid GidOf(const Address& address) {
  ibv_gid gid{};
  const uint8_t* ip = address.ip().data();
  if (address.family() == AddressFamily::kIpv6) {
    memcpy(gid.raw, ip, 16);
  } else {
    gid.raw[10] = gid.raw[11] = 0xff;
    memcpy(gid.raw + 12, ip, 4);
  }
  return gid;
}

}  // namespace

FakeDevice::FakeDevice(size_t device_index, const FakeDeviceOptions& device_options)
    : index(device_index), options(device_options), port_active(device_options.port_active) {
  ListAnew();
  for (const std::string& text : options.addresses) {
    const auto address = Address::ParseIp(text);
    Check(address.ok(), "a fake device's address is IPv4 or IPv6 without a port");
    addresses.push_back(*address);
  }
}

bool FakeDevice::Has(const Address& address) const {
  return std::any_of(addresses.begin(), addresses.end(), [&](const Address& own) {
    return own.family() == address.family() && own.ip() == address.ip();
  });
}

Address FakeDevice::AddressOf(AddressFamily family) const {
  for (const Address& own : addresses) {
    if (own.family() == family) return own;
  }
  return {};
}

void FakeDevice::ListAnew() {
  FakeIbvDevice& handle = handles.emplace_back();
  handle.owner = this;
  handle.node_type = iwarp() ? IBV_NODE_RNIC : IBV_NODE_CA;
  handle.transport_type = iwarp() ? IBV_TRANSPORT_IWARP : IBV_TRANSPORT_IB;
  CopyName(options.name, handle.name, sizeof(handle.name));
  CopyName(absl::StrCat("uverbs", index), handle.dev_name, sizeof(handle.dev_name));
}

ibv_device_attr FakeDevice::Attributes() const {
  ibv_device_attr attr{};
  CopyName("1.0", attr.fw_ver, sizeof(attr.fw_ver));
  attr.node_guid = htobe64(0x0200'0000'0000'0000 + index + 1);
  attr.sys_image_guid = attr.node_guid;
  attr.vendor_id = options.vendor_id;
  attr.max_mr_size = UINT64_MAX;
  attr.page_size_cap = 0xffff'f000;
  attr.max_qp = options.max_qp;
  attr.max_qp_wr = options.max_qp_wr;
  attr.max_sge = options.max_sge;
  attr.max_sge_rd = options.max_sge_rd;
  attr.max_mw = options.max_mw;
  if (options.max_mw > 0) attr.device_cap_flags |= IBV_DEVICE_MEM_WINDOW_TYPE_2B;
  attr.max_cq = 100'000;
  attr.max_cqe = options.max_cqe;
  attr.max_mr = 100'000;
  attr.max_pd = 10'000;
  attr.max_qp_rd_atom = options.max_qp_rd_atom;
  attr.max_qp_init_rd_atom = options.max_qp_init_rd_atom;
  attr.max_res_rd_atom = 1024;
  attr.max_srq = options.max_srq;
  attr.max_srq_wr = options.max_srq == 0 ? 0 : options.max_srq_wr;
  attr.max_srq_sge = options.max_srq == 0 ? 0 : options.max_srq_sge;
  attr.max_pkeys = static_cast<uint16_t>(options.partitions.size());
  attr.local_ca_ack_delay = 15;
  attr.phys_port_cnt = 1;
  return attr;
}

ibv_port_attr FakeDevice::PortAttributes() const {
  ibv_port_attr attr{};
  attr.state = port_active ? IBV_PORT_ACTIVE : IBV_PORT_DOWN;
  attr.max_mtu = IBV_MTU_4096;
  attr.active_mtu = options.active_mtu;
  attr.gid_tbl_len = 16;
  attr.max_msg_sz = kFakeMaxMessage;
  attr.pkey_tbl_len = static_cast<uint16_t>(options.partitions.size());
  const bool infiniband = options.link == FakeLink::kInfiniBand;
  attr.lid = infiniband ? static_cast<uint16_t>(index + 1) : 0;
  attr.active_width = 2;
  attr.active_speed = options.active_speed;
  attr.phys_state = port_active ? 5 : 3;
  attr.link_layer = infiniband ? IBV_LINK_LAYER_INFINIBAND : IBV_LINK_LAYER_ETHERNET;
  return attr;
}

std::vector<ibv_gid_entry> FakeDevice::Gids() const {
  std::vector<ibv_gid_entry> gids;
  const auto add = [&](const ibv_gid& gid, ibv_gid_type type) {
    gids.push_back({.gid = gid,
                    .gid_index = first_gid + static_cast<uint32_t>(gids.size()),
                    .port_num = 1,
                    .gid_type = static_cast<uint32_t>(type),
                    .ndev_ifindex = options.ifindex});
  };
  if (options.link != FakeLink::kRoce) {
    ibv_gid gid{};
    // InfiniBand: the link's prefix and a GUID. iWARP: the hardware address.
    if (options.link == FakeLink::kInfiniBand) gid.global.subnet_prefix = htobe64(0xfe80ULL << 48);
    gid.raw[15] = static_cast<uint8_t>(index + 1);
    add(gid, IBV_GID_TYPE_IB);
    return gids;
  }
  for (const Address& address : addresses) {
    add(GidOf(address), IBV_GID_TYPE_ROCE_V1);
    add(GidOf(address), IBV_GID_TYPE_ROCE_V2);
  }
  return gids;
}

FakeContext::FakeContext(FakeHost& fake_host, FakeDevice& fake_device, bool of_cm)
    : ibv_context{}, host(fake_host), owner(fake_device), librdmacm(of_cm) {
  device = &fake_device.handle();
  ops = fake_host.data_path;
  cmd_fd = -1;
  async_fd = async.fd();
  num_comp_vectors = fake_device.options.num_comp_vectors;
}

}  // namespace farcall
