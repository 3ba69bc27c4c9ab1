// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_TRANSPORT_LINK_STREAM_STREAM_ERRORS_H_
#define FARCALL_TRANSPORT_LINK_STREAM_STREAM_ERRORS_H_

#include <chrono>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "transport/base/time.h"

namespace farcall {

// Why a stream ends whose peer does what it must not.
inline absl::Status BrokenRule(absl::string_view what) {
  return absl::InvalidArgumentError(absl::StrCat("the peer broke a rule of the link: ", what));
}

// Why a generation is given up on which nothing moves.
inline absl::Status StuckFor(Duration bound) {
  const auto ms = std::chrono::duration_cast<std::chrono::milliseconds>(bound).count();
  return absl::DeadlineExceededError(absl::StrCat("it moved nothing for ", ms, " ms"));
}

}  // namespace farcall

#endif  // FARCALL_TRANSPORT_LINK_STREAM_STREAM_ERRORS_H_
