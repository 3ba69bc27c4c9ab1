// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_RPC_TESTING_LARGE_ATTACHMENTS_H_
#define FARCALL_RPC_TESTING_LARGE_ATTACHMENTS_H_

#include <cstddef>
#include <string>

#include "absl/strings/string_view.h"
#include "rpc/testing/test_peers.h"
#include "transport/buffer/buffer.h"
#include "transport/testing/test_pattern.h"

namespace farcall {

inline constexpr size_t kMiB = size_t{1} << 20;

inline std::string PatternBytes(size_t bytes) {
  const TestPattern pattern(7);
  std::string all;
  all.reserve(bytes);
  while (all.size() < bytes) {
    const absl::string_view more = pattern.At(all.size(), bytes - all.size());
    all.append(more.data(), more.size());
  }
  return all;
}

inline bool IsPattern(const Buffer& buffer, size_t bytes) {
  const TestPattern pattern(7);
  uint64_t offset = 0;
  for (const Buffer::Slice& slice : buffer.slices()) {
    if (pattern.Matching(offset, slice.view()) != slice.length) return false;
    offset += slice.length;
  }
  return offset == bytes;
}

inline ChannelOptions LargeBodies() {
  ChannelOptions options = Patient();
  options.max_body_size = 128 * kMiB;
  return options;
}

inline ServerOptions LargeBodiesServer() {
  ServerOptions options;
  options.max_body_size = 128 * kMiB;
  return options;
}

}  // namespace farcall

#endif  // FARCALL_RPC_TESTING_LARGE_ATTACHMENTS_H_
