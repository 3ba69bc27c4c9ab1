// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_TRANSPORT_LINK_STREAM_BYTES_BYTE_RANGE_H_
#define FARCALL_TRANSPORT_LINK_STREAM_BYTES_BYTE_RANGE_H_

#include <cstdint>

namespace farcall {

// Offsets [from, to) of a stream.
struct ByteRange {
  uint64_t from = 0;
  uint64_t to = 0;

  uint64_t size() const { return to - from; }
  bool operator==(const ByteRange&) const = default;
};

}  // namespace farcall

#endif  // FARCALL_TRANSPORT_LINK_STREAM_BYTES_BYTE_RANGE_H_
