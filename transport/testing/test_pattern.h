// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_TRANSPORT_TESTING_TEST_PATTERN_H_
#define FARCALL_TRANSPORT_TESTING_TEST_PATTERN_H_

#include <cstddef>
#include <cstdint>

#include "absl/strings/string_view.h"

namespace farcall {

// The bytes of a test's stream: byte k of stream s is known, and differs from its
// neighbours and from other streams'. A value.
class TestPattern {
 public:
  explicit TestPattern(uint64_t stream);

  // Bytes from `offset` on, at most `most` (> 0) of them and at least one.
  absl::string_view At(uint64_t offset, size_t most) const;
  // How many of `bytes` are those of the stream at `offset`, counted to the first that is not.
  size_t Matching(uint64_t offset, absl::string_view bytes) const;

 private:
  uint64_t start_;
};

}  // namespace farcall

#endif  // FARCALL_TRANSPORT_TESTING_TEST_PATTERN_H_
