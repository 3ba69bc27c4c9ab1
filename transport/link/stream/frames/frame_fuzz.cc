// SPDX-License-Identifier: Apache-2.0
//
// Any bytes as the stream of a link. What must hold: nothing is read outside of the slices,
// the input loses nothing or a whole frame, pieces do not matter, and what was cut is
// written again as it came.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "absl/strings/string_view.h"
#include "transport/base/check.h"
#include "transport/buffer/block_pool.h"
#include "transport/link/stream/frames/frame_testing.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const std::unique_ptr<farcall::BlockPool> pool =
      std::move(farcall::BlockPool::Create({})).value();
  const absl::string_view bytes(reinterpret_cast<const char*>(data), size);
  const std::string whole = farcall::testing::LinkFrameOutcome(bytes, size + 1, *pool);
  farcall::Check(farcall::testing::LinkFrameOutcome(bytes, 13, *pool) == whole,
                 "pieces do not matter");
  if (size <= 300) {
    farcall::Check(farcall::testing::LinkFrameOutcome(bytes, 1, *pool) == whole,
                   "single bytes do not matter");
  }
  return 0;
}
