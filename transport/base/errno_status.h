// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_TRANSPORT_BASE_ERRNO_STATUS_H_
#define FARCALL_TRANSPORT_BASE_ERRNO_STATUS_H_

#include <system_error>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"

namespace farcall {

// "Connection refused" for ECONNREFUSED: errno(3) in words, with the code that fits it.
inline absl::Status ErrnoStatus(int error) {
  return absl::Status(absl::ErrnoToStatusCode(error), std::generic_category().message(error));
}

// The same error, told with what failed: "WHAT: ERROR".
inline absl::Status Annotate(const absl::Status& error, absl::string_view what) {
  return absl::Status(error.code(), absl::StrCat(what, ": ", error.message()));
}

}  // namespace farcall

#endif  // FARCALL_TRANSPORT_BASE_ERRNO_STATUS_H_
