// SPDX-License-Identifier: Apache-2.0

#include "rpc/version.h"

namespace farcall {

absl::string_view Version() { return FARCALL_VERSION; }

}  // namespace farcall
