// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_RPC_TESTING_RDMA_PEER_PATTERN_BYTES_H_
#define FARCALL_RPC_TESTING_RDMA_PEER_PATTERN_BYTES_H_

#include <cstddef>
#include <cstdint>
#include <string>

#include "absl/strings/string_view.h"
#include "transport/buffer/buffer.h"
#include "transport/testing/test_pattern.h"

namespace farcall::rdma_peer {

constexpr size_t kTextBytes = 32;

// The first `bytes` of the stream. They lie in memory of the process, which the buffer refers
// to: nothing is registered, nothing copied here.
inline Buffer PatternBuffer(uint64_t stream, size_t bytes) {
  const TestPattern pattern(stream);
  Buffer all;
  while (all.size() < bytes) {
    const absl::string_view more = pattern.At(all.size(), bytes - all.size());
    all.AppendUserData(more.data(), more.size(), [] {});
  }
  return all;
}

inline bool IsPattern(const Buffer& buffer, uint64_t stream, size_t bytes) {
  const TestPattern pattern(stream);
  uint64_t offset = 0;
  for (const Buffer::Slice& slice : buffer.slices()) {
    if (pattern.Matching(offset, slice.view()) != slice.length) return false;
    offset += slice.length;
  }
  return offset == bytes;
}

inline std::string PatternText(uint64_t stream) {
  return PatternBuffer(stream, kTextBytes).ToString();
}

}  // namespace farcall::rdma_peer

#endif  // FARCALL_RPC_TESTING_RDMA_PEER_PATTERN_BYTES_H_
