// SPDX-License-Identifier: Apache-2.0
//
// Check: what cannot happen unless this program is wrong. It stays on in every
// build. What can happen in operation is an absl::Status instead.

#ifndef FARCALL_TRANSPORT_BASE_CHECK_H_
#define FARCALL_TRANSPORT_BASE_CHECK_H_

namespace farcall {

// Prints `what` with its place to standard error and aborts.
[[noreturn]] void CheckFailed(const char* what, const char* file, int line, const char* function);

// The last three are the caller's place. Not std::source_location, which clang 14 does
// not have.
inline void Check(bool holds, const char* what, const char* file = __builtin_FILE(),
                  int line = __builtin_LINE(), const char* function = __builtin_FUNCTION()) {
  if (!holds) [[unlikely]] {
    CheckFailed(what, file, line, function);
  }
}

}  // namespace farcall

#endif  // FARCALL_TRANSPORT_BASE_CHECK_H_
