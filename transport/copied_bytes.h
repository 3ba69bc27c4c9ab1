// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_TRANSPORT_COPIED_BYTES_H_
#define FARCALL_TRANSPORT_COPIED_BYTES_H_

#include <array>
#include <cstddef>
#include <cstdint>

#include "absl/strings/string_view.h"

namespace farcall {

// Why the CPU moved bytes that could have stayed where they were (docs/memory.md). What the
// kernel copies for sockets, and what encryption and serialization write anew, is not counted.
enum class CopyCause : uint8_t {
  kSentUnregistered,  // sent over RDMA from memory that the device did not know
  kSentSmall,         // sent over RDMA in slices too small to be worth a segment each
  kReceivedSmall,     // came by RDMA in a message too small to keep a whole block for
  kNotLanded,  // of an attachment, that came elsewhere than in the memory set for it, at either end
};
inline constexpr size_t kCopyCauses = 4;
// "sent_unregistered", "sent_small", "received_small", "not_landed".
absl::string_view ToString(CopyCause cause);

struct CopiedBytes {
  std::array<uint64_t, kCopyCauses> by_cause{};

  uint64_t& operator[](CopyCause cause) { return by_cause[static_cast<size_t>(cause)]; }
  uint64_t operator[](CopyCause cause) const { return by_cause[static_cast<size_t>(cause)]; }
  uint64_t sent() const {
    return (*this)[CopyCause::kSentUnregistered] + (*this)[CopyCause::kSentSmall];
  }
  uint64_t received() const {
    return (*this)[CopyCause::kReceivedSmall] + (*this)[CopyCause::kNotLanded];
  }
  CopiedBytes& operator+=(const CopiedBytes& other) {
    for (size_t i = 0; i < kCopyCauses; ++i) by_cause[i] += other.by_cause[i];
    return *this;
  }
  bool operator==(const CopiedBytes& other) const = default;
};

}  // namespace farcall

#endif  // FARCALL_TRANSPORT_COPIED_BYTES_H_
