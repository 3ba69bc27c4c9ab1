// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_RPC_SESSION_SERVER_LIMITS_TIMEOUT_OPTIONS_H_
#define FARCALL_RPC_SESSION_SERVER_LIMITS_TIMEOUT_OPTIONS_H_

#include <chrono>
#include <cstdint>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "rpc/server_options.h"
#include "rpc/session/server/limits/session_timeouts.h"

namespace farcall {

// -1 milliseconds: for ever.
inline Duration OrForEver(int64_t ms) {
  return ms < 0 ? Duration::max() : Duration(std::chrono::milliseconds(ms));
}

inline SessionTimeouts::Limits TimeoutLimits(const ServerOptions& options) {
  return {.idle = OrForEver(options.idle_timeout_ms), .read = OrForEver(options.read_timeout_ms)};
}

// Why a connection is closed that is waited for no longer; kCancelled: as it should be.
inline absl::Status WhyGivenUp(SessionTimeouts::Verdict verdict, const ServerOptions& options) {
  const auto within = absl::StrCat(" within read_timeout_ms, ", options.read_timeout_ms);
  switch (verdict) {
    case SessionTimeouts::Verdict::kSilent:
      return absl::DeadlineExceededError(absl::StrCat("it sent nothing", within));
    case SessionTimeouts::Verdict::kUnfinished:
      return absl::DeadlineExceededError(absl::StrCat("a request was not complete", within));
    case SessionTimeouts::Verdict::kNotReading:
      return absl::DeadlineExceededError(absl::StrCat("it read nothing of its answers", within));
    case SessionTimeouts::Verdict::kTooSlow:
      return absl::DeadlineExceededError(absl::StrCat("it read less than ",
                                                      SessionTimeouts::kMinRate,
                                                      " bytes a second of its answers", within));
    default:
      return absl::CancelledError("nothing was under way within idle_timeout_ms");
  }
}

}  // namespace farcall

#endif  // FARCALL_RPC_SESSION_SERVER_LIMITS_TIMEOUT_OPTIONS_H_
