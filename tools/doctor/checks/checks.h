// SPDX-License-Identifier: Apache-2.0
//
// The checks: what facts mean. Nothing here asks the system.

#ifndef FARCALL_TOOLS_DOCTOR_CHECKS_CHECKS_H_
#define FARCALL_TOOLS_DOCTOR_CHECKS_CHECKS_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "tools/doctor/checks/facts.h"
#include "tools/doctor/checks/finding.h"
#include "tools/node/inventory.h"
#include "transport/buffer/block_pool.h"
#include "transport/rdma_options.h"

namespace farcall::doctor {

// --- The host.

// `listed`: devices that libibverbs shows.
Findings CheckLibraries(const LibraryFacts& facts, size_t listed);
Findings CheckDeviceFiles(const DeviceFileFacts& facts);
Finding CheckConnectionManager(const DeviceFileFacts& facts);
Findings CheckDevices(const node::Inventory& inventory);
// How RDMA devices and network namespaces go together here.
Finding CheckNamespace(const node::Inventory& inventory, const std::vector<OwnAddress>& own);
// What one device costs with these options and so many event loops.
MemoryNeed NeedOf(const RdmaOptions& rdma, const BlockPoolOptions& pool, int loops);
Finding CheckMemlock(const MemoryFacts& facts, const MemoryNeed& need, size_t devices);
Finding CheckHugePages(const node::Inventory& inventory, const HugePageFacts& facts);
Finding CheckFork(ForkSafety safety);
Finding CheckLibraryVerdict(const LibraryVerdict& verdict);
// Where event loops run here, which adapters their connections take first, and whether that crosses
// from one NUMA node to another. Nothing without a device of `usable` (names).
Findings CheckLoopPlaces(const node::Inventory& inventory, const std::vector<std::string>& usable,
                         int loops, const SettingsFacts& settings);
// Nothing where the library takes it.
Findings CheckSettings(const SettingsFacts& facts);

// --- A device.

// `driver`: of the kernel, "mlx5_core"; "" where it is not known. `listed`: libibverbs shows it.
Finding CheckProvider(const LibraryFacts& facts, const std::string& device,
                      const std::string& driver, bool listed);
// `opened`: null where libibverbs does not show it.
Findings CheckPorts(const node::Inventory& inventory, const node::Device& device,
                    const VerbsDevice* opened, const std::vector<OwnAddress>& own);
Findings CheckPci(const node::Device& device);
Findings CheckNuma(const node::Inventory& inventory, const node::Device& device);
// `no_pci_settings`: what its PCI Express registers say means nothing, as with devices in software,
// which have none, and virtual functions, whose settings are those of the physical one (PCI Express
// Base, 9.3.5).
Finding CheckCapabilities(const VerbsDevice& device, bool no_pci_settings);
// How packets are marked, sorted and held back; nothing but for RoCE. `traffic_class`: of
// FARCALL_TRAFFIC_CLASS.
Findings CheckCongestion(const node::Inventory& inventory, const node::Device& device,
                         std::optional<uint32_t> traffic_class, const std::vector<OwnAddress>& own,
                         const Queues& queues);
// The queue that farcall's packets wait in, of each port of RoCE.
struct QueueOf {
  std::string device;
  std::string interface;
  std::optional<uint32_t> priority;  // nullopt: not known
};
std::vector<QueueOf> QueuesOf(const node::Inventory& inventory,
                              std::optional<uint32_t> traffic_class,
                              const std::vector<OwnAddress>& own,
                              const std::map<std::string, Dcb>& dcb);
// Which counters of errors and congestion moved between two looks.
Findings CheckCounters(const node::Device& before, const node::Device& after, double seconds);
Finding CheckLoopback(const LoopbackFacts& facts);

bool HasRoce(const node::Device& device);
// "64 KiB", "1 GiB", "1000 bytes": whole units.
std::string BytesText(uint64_t bytes);

}  // namespace farcall::doctor

#endif  // FARCALL_TOOLS_DOCTOR_CHECKS_CHECKS_H_
