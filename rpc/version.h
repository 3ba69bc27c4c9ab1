// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_RPC_VERSION_H_
#define FARCALL_RPC_VERSION_H_

#include "absl/strings/string_view.h"

namespace farcall {

// Of the library, "1.2.3"; that of its CMake and pkg-config files too (tools/version.bzl).
absl::string_view Version();

}  // namespace farcall

#endif  // FARCALL_RPC_VERSION_H_
