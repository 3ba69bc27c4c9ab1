// SPDX-License-Identifier: Apache-2.0
//
// Facts of this process and host that its files and system calls tell.

#ifndef FARCALL_TOOLS_DOCTOR_LOOK_HOST_H_
#define FARCALL_TOOLS_DOCTOR_LOOK_HOST_H_

#include <optional>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "tools/doctor/checks/facts.h"

namespace farcall::doctor {

// `root`: of the files, "" for this host's. Never fails; what is not readable stays unset.
MemoryFacts ReadMemoryFacts(const std::string& root = "");
HugePageFacts ReadHugePageFacts(const std::string& root = "");
// Opens each file and closes it.
DeviceFileFacts ReadDeviceFiles(const std::string& root = "");
// Processors that event loops are made for by default.
int DefaultLoops();
// At which peers may reach this network namespace.
std::vector<OwnAddress> ReadOwnAddresses();
SettingsFacts ReadSettings();

// Whether "Enable Relaxed Ordering" of PCI Express' Device Control register is set, in the bytes of
// a device's configuration space. nullopt: they end before it, as they do for users other than
// root, or have no such register.
std::optional<bool> RelaxedOrderingOf(absl::string_view config_space);
std::optional<bool> ReadRelaxedOrdering(const std::string& device, const std::string& root = "");

}  // namespace farcall::doctor

#endif  // FARCALL_TOOLS_DOCTOR_LOOK_HOST_H_
