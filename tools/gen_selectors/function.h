// SPDX-License-Identifier: Apache-2.0
//
// What a device plugin knows of a node: its PCI network functions that have an RDMA device.

#ifndef FARCALL_TOOLS_GEN_SELECTORS_FUNCTION_H_
#define FARCALL_TOOLS_GEN_SELECTORS_FUNCTION_H_

#include <cstddef>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/types/optional.h"
#include "tools/node/inventory.h"

namespace farcall::selectors {

// Texts are "" where the node does not say.
struct Function {
  std::string node;
  std::string rdma;  // "mlx5_0"
  std::string pci;   // "0000:17:00.0"; "": the RDMA device has no PCI function
  // What selectors compare.
  std::string vendor;     // "15b3"
  std::string device;     // "1021"
  std::string driver;     // "mlx5_core"
  std::string if_name;    // the first of its network devices by name, as the plugin takes it
  std::string link_type;  // "ether", "infiniband": of that network device
  std::string pf_name;    // of a virtual function: the name of its physical one's network device
  // What the choice goes by.
  std::string software;   // "rxe", "siw"
  std::string parent;     // of a software device
  bool is_below = false;  // a software device that lies below a PCI function
  std::string physfn;     // of a virtual function: the PCI address of its physical one
  unsigned numvfs = 0;    // that it has
  unsigned totalvfs = 0;
  absl::optional<unsigned> vf_index;
  bool is_network = true;  // PCI class 02: plugins look at no other
  bool is_iwarp = false;
  bool has_umad = false;
  bool default_route = false;
  bool up = false;         // a port is ACTIVE
  std::string link;        // "InfiniBand", "Ethernet": of the first port
  std::string port_state;  // "DOWN, Polling": of the first port
  double gbps = 0;         // 0: unknown
};

// "node-1", or "node 3" where it does not tell its name; without line ends.
std::string NodeName(const node::Inventory& inventory, size_t index);

// Of all RDMA devices, by PCI address; those without one are the last.
// Software devices have none, unless they count as the function that they lie below.
std::vector<Function> FunctionsOf(const node::Inventory& inventory, size_t index,
                                  bool include_software = false);

// Addresses have digits of 16, as many as another's but for the domain's.
bool PciLess(absl::string_view left, absl::string_view right);

// What a person calls it: "mlx5_0 (0000:17:00.0, ib0)".
std::string Describe(const Function& function);

// Text of a node for a comment: without line ends and control characters, and bounded.
std::string Printable(absl::string_view text);

}  // namespace farcall::selectors

#endif  // FARCALL_TOOLS_GEN_SELECTORS_FUNCTION_H_
