// SPDX-License-Identifier: Apache-2.0
//
// The outcomes of calls that are counted apart. Services may answer with any number, and
// numbers chosen by peers must not make counters without end.

#ifndef FARCALL_RPC_STATS_ERROR_CLASS_H_
#define FARCALL_RPC_STATS_ERROR_CLASS_H_

#include <array>
#include <cstddef>
#include <cstdint>

#include "absl/strings/string_view.h"

namespace farcall {

// 0 is success, then each RpcError, then all errnos together, then all other numbers together.
inline constexpr size_t kErrorClasses = 23;
using ErrorCounts = std::array<uint64_t, kErrorClasses>;
uint64_t Sum(const ErrorCounts& counts);

size_t ErrorClassOfFailure(int code);  // code != 0
inline size_t ErrorClassOf(int code) { return code == 0 ? 0 : ErrorClassOfFailure(code); }
// "OK", "ELIMIT", ..., "ERRNO", "OTHER". Static.
absl::string_view ErrorClassName(size_t error_class);

}  // namespace farcall

#endif  // FARCALL_RPC_STATS_ERROR_CLASS_H_
