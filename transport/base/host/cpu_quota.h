// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_TRANSPORT_BASE_HOST_CPU_QUOTA_H_
#define FARCALL_TRANSPORT_BASE_HOST_CPU_QUOTA_H_

#include <optional>
#include <string>

#include "absl/functional/function_ref.h"

namespace farcall {

// The content of a file; "" where it cannot be read.
using FileReader = absl::FunctionRef<std::string(const std::string& path)>;

// How many cores' worth of CPU time the cgroups of this process let it use, rounded up: the least
// of its own and those above, as far as they can be seen from here, of versions 1 and 2; what a
// Kubernetes limit of CPU becomes. Nothing: there is no limit.
std::optional<int> CoresByQuota(FileReader read);

}  // namespace farcall

#endif  // FARCALL_TRANSPORT_BASE_HOST_CPU_QUOTA_H_
