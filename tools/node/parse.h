// SPDX-License-Identifier: Apache-2.0
//
// The texts of sysfs and procfs.

#ifndef FARCALL_TOOLS_NODE_PARSE_H_
#define FARCALL_TOOLS_NODE_PARSE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/types/optional.h"

namespace farcall::node {

// Decimal, or hexadecimal behind 0x.
absl::optional<uint64_t> ParseNumber(absl::string_view text);

// "0x15b3": "15b3"; `digits` of them, from the right ("0x020000", 4 digits: nothing, as it has
// six). Nothing where it is no such number. Lower case.
absl::optional<std::string> ParseHex(absl::string_view text, size_t digits);

// "4: ACTIVE": "ACTIVE"; without a number in front, the text as it is.
std::string ParseState(absl::string_view text);

// "400 Gb/sec (4X NDR)": 400; "2.5 Gb/sec (1X SDR)": 2.5.
absl::optional<double> ParseRate(absl::string_view text);

// "0000:17:00.0"
bool IsPciAddress(absl::string_view text);

// No interface identifier in it: the kernel's empty entry.
bool IsEmptyGid(absl::string_view gid);

// The MAC address that the GID of an iWARP device begins with, "a4:bf:01:00:00:01"; "" where it is
// no GID.
std::string MacInGid(absl::string_view gid);

// What the address of an interface puts at the end of a GID: of Ethernet's six bytes the modified
// EUI-64 (RFC 4291, appendix A), of IPoIB's twenty the last eight (RFC 4391, 9.1.1). In the words
// of a GID, "a6bf:01ff:fe00:0001"; "" where it is neither.
std::string GidEndOf(absl::string_view address);

// The value behind "Cpus_allowed_list:" in the text of /proc/self/status.
absl::optional<std::string> AllowedCpus(absl::string_view status);

// The interfaces of default routes in the text of /proc/net/route (proc(5)).
std::vector<std::string> DefaultRouteInterfaces(absl::string_view routes);

// "Y" or "1": "shared"; "N" or "0": "exclusive"; other texts: nothing.
absl::optional<std::string> ParseNetnsMode(absl::string_view text);

// Whether "a9" comes before "a10": runs of digits by their value.
bool NaturalLess(absl::string_view left, absl::string_view right);

}  // namespace farcall::node

#endif  // FARCALL_TOOLS_NODE_PARSE_H_
