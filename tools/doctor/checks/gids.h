// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_TOOLS_DOCTOR_CHECKS_GIDS_H_
#define FARCALL_TOOLS_DOCTOR_CHECKS_GIDS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "tools/doctor/checks/facts.h"
#include "tools/doctor/checks/finding.h"
#include "tools/node/inventory.h"
#include "transport/address.h"

namespace farcall::doctor {

// An entry of a GID table, judged as farcall and rdma_cm do.
struct GidRow {
  std::string device;
  uint32_t port = 0;
  uint32_t index = 0;
  std::string type;     // "RoCE v2"
  std::string address;  // what it means as an IP address, which it is on RoCE
  std::string netdev;   // "": not told
  bool used = false;    // connections of this process may have it
  std::string why;      // or why not
};

// "10.9.0.1", "fd09::1": without port and scope.
std::string IpText(const Address& address);

// Of a device, by port and index. `own`: addresses of this network namespace at which peers may
// reach it.
std::vector<GidRow> JudgeGids(const node::Inventory& inventory, const node::Device& device,
                              const std::vector<OwnAddress>& own);

// RoCE: which entry is used. InfiniBand and iWARP: whether an interface of it has an address.
Finding CheckGids(const node::Inventory& inventory, const node::Device& device,
                  const std::vector<OwnAddress>& own);
// Whether rdma_cm finds the device by an address of this namespace.
bool HasAddressHere(const node::Inventory& inventory, const node::Device& device,
                    const std::vector<OwnAddress>& own);

}  // namespace farcall::doctor

#endif  // FARCALL_TOOLS_DOCTOR_CHECKS_GIDS_H_
