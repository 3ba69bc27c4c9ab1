// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_TOOLS_DOCTOR_CHECKS_INTERFACES_H_
#define FARCALL_TOOLS_DOCTOR_CHECKS_INTERFACES_H_

#include <string>
#include <vector>

#include "tools/doctor/checks/facts.h"
#include "tools/node/inventory.h"

namespace farcall::doctor {

// Network interfaces of an RDMA device, of those that this network namespace has. Pointers are into
// the inventory; null where none is to be seen.

// Some interface of the device is here, with an address or without.
bool HasInterface(const node::Inventory& inventory, const node::Device& device);

// One of the device's interfaces has an address among `own`.
bool HasAddress(const node::Inventory& inventory, const node::Device& device,
                const std::vector<OwnAddress>& own);

// The same for InfiniBand, whose interfaces are those of IPoIB.
bool HasIpoibAddress(const node::Inventory& inventory, const node::Device& device,
                     const std::vector<OwnAddress>& own);

// The one that connections of this process go over: of the GID that they use; where none is used,
// another of the port.
const node::Netdev* InterfaceOf(const node::Inventory& inventory, const node::Device& device,
                                const node::Port& port, const std::vector<OwnAddress>& own);

// The one that has the adapter's settings: not a VLAN, macvlan or bond, but what lies below it.
struct AdapterInterface {
  const node::Netdev* netdev = nullptr;
  std::string bond;  // that it is a member of; "": of none
};
AdapterInterface AdapterInterfaceOf(const node::Inventory& inventory, const node::Device& device,
                                    const node::Port& port, const std::vector<OwnAddress>& own);

}  // namespace farcall::doctor

#endif  // FARCALL_TOOLS_DOCTOR_CHECKS_INTERFACES_H_
