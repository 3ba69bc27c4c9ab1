// SPDX-License-Identifier: Apache-2.0
//
// Check: what cannot happen unless this program is wrong. It stays on in every
// build. What can happen in operation is an absl::Status instead.

#ifndef FARCALL_TRANSPORT_BASE_CHECK_H_
#define FARCALL_TRANSPORT_BASE_CHECK_H_

#include <source_location>

namespace farcall {

// Prints `what` with its place to standard error and aborts.
[[noreturn]] void CheckFailed(const char* what, const std::source_location& where);

inline void Check(bool holds, const char* what,
                  std::source_location where = std::source_location::current()) {
  if (!holds) [[unlikely]] {
    CheckFailed(what, where);
  }
}

}  // namespace farcall

#endif  // FARCALL_TRANSPORT_BASE_CHECK_H_
