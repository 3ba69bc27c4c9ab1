// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_TRANSPORT_BASE_ERRNO_STATUS_H_
#define FARCALL_TRANSPORT_BASE_ERRNO_STATUS_H_

#include <cerrno>
#include <string>
#include <system_error>

#include "absl/status/status.h"
#include "absl/strings/cord.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"

namespace farcall {

// The code that fits an errno(3). Abseil calls an address in use a failed precondition, and one
// that this host does not have one that exists already.
inline absl::StatusCode StatusCodeOf(int error) {
  if (error == EADDRINUSE) return absl::StatusCode::kAlreadyExists;
  if (error == EADDRNOTAVAIL) return absl::StatusCode::kNotFound;
  return absl::ErrnoToStatusCode(error);
}

// "Connection refused" for ECONNREFUSED: errno(3) in words.
inline absl::Status ErrnoStatus(int error) {
  return absl::Status(StatusCodeOf(error), std::generic_category().message(error));
}

// The same error, with its payloads and what failed: "WHAT: ERROR".
inline absl::Status Annotate(const absl::Status& error, absl::string_view what) {
  absl::Status annotated(error.code(), absl::StrCat(what, ": ", error.message()));
  error.ForEachPayload([&](absl::string_view type, const absl::Cord& payload) {
    annotated.SetPayload(type, payload);
  });
  return annotated;
}

// The same error, sharing no memory with `error`: for another thread. Sharing is no fault,
// but where Abseil is not built for ThreadSanitizer that cannot see it.
inline absl::Status Detached(const absl::Status& error) {
  absl::Status detached(error.code(), error.message());
  error.ForEachPayload([&](absl::string_view type, const absl::Cord& payload) {
    detached.SetPayload(type, absl::Cord(std::string(payload)));
  });
  return detached;
}

}  // namespace farcall

#endif  // FARCALL_TRANSPORT_BASE_ERRNO_STATUS_H_
