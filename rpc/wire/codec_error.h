// SPDX-License-Identifier: Apache-2.0
//
// The words in which every compress type fails.

#ifndef FARCALL_RPC_WIRE_CODEC_ERROR_H_
#define FARCALL_RPC_WIRE_CODEC_ERROR_H_

#include <cstddef>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"

namespace farcall {

// `size`: bytes of the compressed payload.
inline absl::Status MalformedPayload(absl::string_view type, size_t size, absl::string_view what) {
  return absl::InvalidArgumentError(
      absl::StrCat("the ", type, " payload of ", size, " bytes is malformed: ", what));
}

// Unlike NoBlocksFor, it never will be better.
inline absl::Status DecompressesToTooMuch(absl::string_view type, size_t size, size_t max_size) {
  return absl::OutOfRangeError(
      absl::StrCat("the ", type, " payload of ", size, " bytes decompresses to more than ",
                   max_size, ", the limit of a message: send less at once, or raise the limit"));
}

inline absl::Status NoBlocksFor(absl::string_view type, absl::string_view what) {
  return absl::ResourceExhaustedError(absl::StrCat("no blocks to ", what, " a ", type,
                                                   " payload (RuntimeOptions::pool.max_bytes)"));
}

inline absl::Status NoMemoryFor(absl::string_view type) {
  return absl::ResourceExhaustedError(absl::StrCat("no memory for ", type));
}

}  // namespace farcall

#endif  // FARCALL_RPC_WIRE_CODEC_ERROR_H_
