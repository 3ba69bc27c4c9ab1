// SPDX-License-Identifier: Apache-2.0
//
// What a node's files say of its RDMA devices: nothing is opened but files of /sys, /proc and the
// directory of /dev/infiniband, no library is loaded, and no right is needed beyond reading them.

#ifndef FARCALL_TOOLS_NODE_INVENTORY_H_
#define FARCALL_TOOLS_NODE_INVENTORY_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "tools/node/inventory.pb.h"

namespace farcall::node {

// What is looked for in /sys/module.
inline constexpr const char* kModules[] = {
    "ib_core",   "ib_uverbs", "ib_umad",  "rdma_cm", "rdma_ucm",      "ib_ipoib",
    "mlx5_core", "mlx5_ib",   "mlx4_ib",  "irdma",   "bnxt_re",       "iw_cxgb4",
    "qedr",      "efa",       "rdma_rxe", "siw",     "nvidia_peermem"};

// Limits of what is taken from a node: beyond them `cut` says what was left.
inline constexpr size_t kMaxDevices = 256;
inline constexpr size_t kMaxNetdevs = 1024;
inline constexpr size_t kMaxGids = 1024;     // of a port
inline constexpr size_t kMaxCounters = 512;  // of a directory

struct ReadOptions {
  // Counters are the larger part of the JSON, and who only wants selectors needs none.
  bool counters = true;
};

// Reads the tree below `root`: "/" is this node, and a container that has the host's /sys, /proc
// and /dev below /host reads it from there. Never fails: what cannot be read is not set, and a
// node without RDMA has no devices. Takes milliseconds, and some more for a thousand netdevs.
Inventory ReadInventory(const std::string& root = "/", const ReadOptions& options = {});

// On one line. Errors cannot happen but for a message that lacks memory.
absl::StatusOr<std::string> ToJsonLine(const Inventory& inventory);

// One object, or one on each line, or an array of them. Errors name the number of the object and
// what is wrong with it: no JSON, or a field that this version does not know.
absl::StatusOr<std::vector<Inventory>> FromJson(absl::string_view text);

// --- Looking things up; null where there is none ---

const Netdev* FindNetdev(const Inventory& inventory, absl::string_view name);
const Device* FindDevice(const Inventory& inventory, absl::string_view name);

// --- Judging what was read ---

bool IsVirtualFunction(const Device& device);
bool IsActive(const Port& port);     // state ACTIVE
bool IsEthernet(const Port& port);   // link layer Ethernet: RoCE or iWARP
bool IsIwarp(const Device& device);  // node type RNIC
bool HasActivePort(const Device& device);
// Whether it is one of the device's interfaces: of its PCI function, or with an address that one of
// its GIDs is made from. Names tell nothing: GIDs and `parent` are named by whatever network
// namespace they lie in. A switchdev's representors are none.
bool BelongsTo(const Netdev& netdev, const Device& device);
// The same of a port, by its GIDs alone.
bool HasGidFrom(const Port& port, const Netdev& netdev);
// Of the ports that are active; of all if none is. 0: unknown.
double RateGbps(const Device& device);

}  // namespace farcall::node

#endif  // FARCALL_TOOLS_NODE_INVENTORY_H_
