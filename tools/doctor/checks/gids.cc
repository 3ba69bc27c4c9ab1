// SPDX-License-Identifier: Apache-2.0

#include "tools/doctor/checks/gids.h"

#include <algorithm>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "tools/doctor/checks/checks.h"
#include "tools/doctor/checks/interfaces.h"

namespace farcall::doctor {
namespace {

constexpr const char* kCheck = "gid";
constexpr const char* kV1 = "RoCE v1: passes no router";
constexpr const char* kOnlyV1 = "RoCE v1 only: passes no router";

// ::ffff:a.b.c.d is an IPv4 address. Empty: it could not be read.
std::string IpOfGid(const std::string& gid) {
  if (gid.empty()) return gid;
  const auto address = Address::ParseIp(gid);
  if (!address.ok()) return gid;
  const auto& ip = address->ip();
  const bool mapped = std::all_of(ip.begin(), ip.begin() + 10, [](uint8_t b) { return b == 0; }) &&
                      ip[10] == 0xff && ip[11] == 0xff;
  return IpText(mapped ? Address::Ipv4({ip[12], ip[13], ip[14], ip[15]}, 0) : *address);
}

const OwnAddress* Find(const std::vector<OwnAddress>& own, const std::string& ip) {
  const auto found =
      std::find_if(own.begin(), own.end(), [&](const OwnAddress& each) { return each.ip == ip; });
  return found == own.end() ? nullptr : &*found;
}

std::string HostsAddresses(const std::vector<OwnAddress>& own) {
  return "its GIDs are no addresses; rdma_cm goes by those of this host: " +
         absl::StrJoin(own, ", ", [](std::string* out, const OwnAddress& each) {
           absl::StrAppend(out, each.ip, " (", each.interface, ")");
         });
}

// Also where GIDs, by which a software device's interface is known, could not be read. In a pod
// none of the interfaces may be of any adapter.
bool MayHaveInterface(const node::Inventory& inventory, const node::Device& device) {
  const bool unread =
      std::any_of(device.ports().begin(), device.ports().end(), [](const node::Port& port) {
        return std::any_of(port.gids().begin(), port.gids().end(),
                           [](const node::Gid& gid) { return gid.gid().empty(); });
      });
  return unread || HasInterface(inventory, device);
}

Finding CheckIwarp(const node::Inventory& inventory, const node::Device& device,
                   const std::vector<OwnAddress>& own) {
  // Its connections are TCP of the adapter's own.
  if (HasAddress(inventory, device, own)) {
    return Ok(kCheck, device.name(), HostsAddresses(own));
  }
  return Failed(
      kCheck, device.name(),
      HasInterface(inventory, device) ? "its interface has no address in this network namespace"
                                      : "none of its interfaces is in this network namespace",
      "iWARP makes connections from the addresses of its own interface (reason no_address)",
      "ip addr add, on that interface; a pod needs the interface itself, or hostNetwork");
}

Finding CheckInfiniband(const node::Inventory& inventory, const node::Device& device,
                        const std::vector<OwnAddress>& own) {
  if (HasIpoibAddress(inventory, device, own)) {
    return Ok(kCheck, device.name(), HostsAddresses(own));
  }
  const std::string finding = HasInterface(inventory, device)
                                  ? "its IPoIB interface has no address in this network namespace"
                                  : "no IPoIB interface of it is in this network namespace";
  for (const node::Port& port : device.ports()) {
    if (!node::IsActive(port) || port.lid() == 0) continue;
    const bool lost = MayHaveInterface(inventory, device);
    return {kCheck,
            device.name(),
            lost ? Verdict::kDegraded : Verdict::kOk,
            absl::StrCat(finding, ": queue pairs are set up over TCP, by LID ", port.lid()),
            lost ? "programs that need rdma_cm do without" : "",
            lost ? "ip addr add, on the IPoIB interface" : ""};
  }
  return Failed(
      kCheck, device.name(), finding,
      "rdma_cm finds an InfiniBand device by the address of its IPoIB interface, and no port "
      "has a LID by which queue pairs could be set up over TCP (reason no_address)",
      "modprobe ib_ipoib, ip addr add on the interface; a pod needs an IPoIB interface of the "
      "same adapter (ipoib-cni by Multus), or hostNetwork");
}

Finding CheckAddress(const node::Inventory& inventory, const node::Device& device,
                     const std::vector<OwnAddress>& own) {
  if (own.empty()) {
    return Failed(kCheck, device.name(), "this network namespace has no address",
                  "connections are made by IP address (reason no_address)",
                  "ip addr; an IPoIB interface for InfiniBand");
  }
  return node::IsIwarp(device) ? CheckIwarp(inventory, device, own)
                               : CheckInfiniband(inventory, device, own);
}

// Whether rdma_cm finds it, where GIDs are no addresses.
bool HasOwnAddress(const node::Inventory& inventory, const node::Device& device,
                   const std::vector<OwnAddress>& own) {
  return node::IsIwarp(device) ? HasAddress(inventory, device, own)
                               : HasIpoibAddress(inventory, device, own);
}

bool IsLinkLocal(const GidRow& row) { return absl::StartsWith(row.address, "fe80:"); }
bool IsV2(const GidRow& row) { return absl::StrContains(row.type, "v2"); }

void Judge(const node::Inventory& inventory, const node::Device& device, const node::Port& port,
           const std::vector<OwnAddress>& own, GidRow& row) {
  if (!node::IsActive(port)) {
    row.why = "its port is not active";
  } else if (node::IsIwarp(device) || !node::IsEthernet(port)) {
    row.used = HasOwnAddress(inventory, device, own);
    row.why = row.used ? "rdma_cm goes by the addresses of this host" : "no address here";
  } else if (IsLinkLocal(row)) {
    row.why = "link-local: a peer cannot know the interface";
  } else if (const OwnAddress* const mine = Find(own, row.address); mine == nullptr) {
    row.why = "not an address of this network namespace";
  } else if (!IsV2(row)) {
    row.why = kV1;
  } else {
    row.used = true;
    row.why = absl::StrCat("the address of ", mine->interface, " here");
  }
}

// A port without v2, as old adapters or their settings have it, is used by v1.
void UseV1WhereThereIsNoOther(std::vector<GidRow>& rows) {
  for (GidRow& row : rows) {
    if (row.why != kV1) continue;
    const bool v2 = std::any_of(rows.begin(), rows.end(), [&](const GidRow& other) {
      return other.port == row.port && other.used && IsV2(other);
    });
    if (v2) continue;
    row.used = true;
    row.why = kOnlyV1;
  }
}

// The entry that queue pairs are set up with over TCP where no address leads to the device, as
// LocalPorts of the library chooses it. Null: none.
const GidRow* OverTcp(const node::Device& device, const std::vector<GidRow>& rows) {
  const auto rank = [](const GidRow& row) {
    return (IsV2(row) ? 0 : 2) + (IsLinkLocal(row) ? 1 : 0);
  };
  const GidRow* best = nullptr;
  for (const GidRow& row : rows) {
    const bool active =
        std::any_of(device.ports().begin(), device.ports().end(), [&](const node::Port& port) {
          return port.number() == row.port && node::IsActive(port) && node::IsEthernet(port);
        });
    if (active && !row.address.empty() && (best == nullptr || rank(row) < rank(*best))) best = &row;
  }
  return best;
}

Finding CheckOverTcp(const node::Inventory& inventory, const node::Device& device,
                     const GidRow& row) {
  const std::string finding = absl::StrCat(
      "no entry is an address of this network namespace: queue pairs are set up over "
      "TCP, with index ",
      row.index, ", ", row.type, ", ", row.address);
  const bool far = IsV2(row) && !IsLinkLocal(row);
  const bool own_interface = MayHaveInterface(inventory, device);
  if (far && !own_interface) return Ok(kCheck, device.name(), finding);
  return Degraded(kCheck, device.name(), finding,
                  far ? "its interface is here, and has lost its address or never had one"
                      : "peers on the same Ethernet alone are reached",
                  "ip addr add, on the adapter's interface");
}

std::string CountsOf(const std::vector<GidRow>& rows) {
  std::vector<std::pair<std::string, size_t>> counts;
  for (const GidRow& row : rows) {
    if (row.used) continue;
    const auto known = std::find_if(counts.begin(), counts.end(),
                                    [&](const auto& each) { return each.first == row.why; });
    if (known == counts.end()) {
      counts.emplace_back(row.why, 1);
    } else {
      ++known->second;
    }
  }
  return absl::StrJoin(counts, "; ", [](std::string* out, const auto& each) {
    absl::StrAppend(out, each.second, " ", each.first);
  });
}

}  // namespace

std::string IpText(const Address& address) {
  std::string text = address.ToString();
  text.resize(text.rfind(':'));
  if (!text.empty() && text.front() == '[') text = text.substr(1, text.size() - 2);
  return text.substr(0, text.find('%'));
}

std::vector<GidRow> JudgeGids(const node::Inventory& inventory, const node::Device& device,
                              const std::vector<OwnAddress>& own) {
  std::vector<GidRow> rows;
  for (const node::Port& port : device.ports()) {
    for (const node::Gid& gid : port.gids()) {
      GidRow row;
      row.device = device.name();
      row.port = port.number();
      row.index = gid.index();
      row.type = gid.type();
      row.address = IpOfGid(gid.gid());
      row.netdev = gid.netdev();
      Judge(inventory, device, port, own, row);
      rows.push_back(std::move(row));
    }
  }
  UseV1WhereThereIsNoOther(rows);
  return rows;
}

Finding CheckGids(const node::Inventory& inventory, const node::Device& device,
                  const std::vector<OwnAddress>& own) {
  if (!HasRoce(device)) return CheckAddress(inventory, device, own);
  const std::vector<GidRow> rows = JudgeGids(inventory, device, own);
  const auto used = std::find_if(rows.begin(), rows.end(),
                                 [](const GidRow& row) { return row.used && row.why != kOnlyV1; });
  const auto v1 = std::find_if(rows.begin(), rows.end(),
                               [](const GidRow& row) { return row.used && row.why == kOnlyV1; });
  const std::string others = CountsOf(rows);
  const auto text = [&](const GidRow& row) {
    return absl::StrCat("index ", row.index, ", ", row.type, ", ", row.address,
                        " would be used: ", row.why,
                        others.empty() ? "" : absl::StrCat("; others: ", others));
  };
  if (used != rows.end()) return Ok(kCheck, device.name(), text(*used));
  if (v1 != rows.end()) {
    return Degraded(kCheck, device.name(), text(*v1),
                    "peers behind a router, or with v2 alone, are not reached",
                    "the adapter's or driver's setting that allows RoCE v2");
  }
  if (rows.empty()) {
    return Failed(
        kCheck, device.name(), "all entries are zero",
        "the network interface of this adapter is down, has no address, or lies in another "
        "network namespace (reason no_address)",
        "host: ip link set IF up, ip addr add; pod: it needs an interface of the same adapter "
        "(macvlan, SR-IOV, host-device by Multus) or hostNetwork");
  }
  if (const GidRow* const row = OverTcp(device, rows)) return CheckOverTcp(inventory, device, *row);
  return Failed(
      kCheck, device.name(),
      absl::StrCat("none of ", rows.size(), " entries can be used: ", others),
      "rdma_cm binds only to addresses of this network namespace (reason no_address)",
      "give the adapter's interface an address; a pod needs an interface of the same adapter "
      "(macvlan, SR-IOV, host-device by Multus) or hostNetwork");
}

bool HasAddressHere(const node::Inventory& inventory, const node::Device& device,
                    const std::vector<OwnAddress>& own) {
  if (!HasRoce(device)) return HasOwnAddress(inventory, device, own);
  const std::vector<GidRow> rows = JudgeGids(inventory, device, own);
  return std::any_of(rows.begin(), rows.end(), [](const GidRow& row) { return row.used; });
}

}  // namespace farcall::doctor
