// SPDX-License-Identifier: Apache-2.0
//
// The parts of ReadInventory. Each fills what its files say and leaves the rest.

#ifndef FARCALL_TOOLS_NODE_READERS_H_
#define FARCALL_TOOLS_NODE_READERS_H_

#include <string>

#include "absl/strings/string_view.h"
#include "tools/node/inventory.pb.h"
#include "tools/node/sys_files.h"

namespace farcall::node {

// `path` is of a device's directory: the end of ".../device". False: it is no PCI function.
bool ReadPci(const SysFiles& files, const std::string& path, Pci& pci);

void ReadDevice(const SysFiles& files, const std::string& name, bool with_counters,
                Inventory& inventory);

void ReadPort(const SysFiles& files, const std::string& device, uint32_t number, bool with_counters,
              Inventory& inventory, Port& port);

// The numbers in a directory of counters.
void ReadCounters(const SysFiles& files, const std::string& path, Inventory& inventory,
                  google::protobuf::RepeatedPtrField<Counter>& counters);

// All that the inventory keeps; its devices are there already.
void ReadNetdevs(const SysFiles& files, Inventory& inventory);

}  // namespace farcall::node

#endif  // FARCALL_TOOLS_NODE_READERS_H_
