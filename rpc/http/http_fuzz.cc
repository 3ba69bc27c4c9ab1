// SPDX-License-Identifier: Apache-2.0
//
// Any bytes as the stream of an HTTP client. What must hold: nothing is read outside of the slices
// (each has an allocation of its own), pieces do not matter, and nothing is answered with a
// status that is no error.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/string_view.h"
#include "rpc/http/http_reader.h"
#include "rpc/http/http_testing.h"
#include "transport/base/check.h"

namespace farcall {
namespace {

constexpr HttpLimits kLimits{.max_head_size = 2048,
                             .max_target_size = 512,
                             .max_fields = 20,
                             .max_body_size = 1000,
                             .max_chunk_extra = 256};

// "continue" is returned only where nothing of the body has come, which pieces decide.
std::string Outcome(absl::string_view bytes, size_t piece) {
  static const std::unique_ptr<BlockPool> pool = testing::SmallPool();
  return absl::StrReplaceAll(testing::ReadAll(bytes, piece, *pool, kLimits), {{"continue\n", ""}});
}

}  // namespace
}  // namespace farcall

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const absl::string_view bytes(reinterpret_cast<const char*>(data), size);
  const std::string whole = farcall::Outcome(bytes, size + 1);
  farcall::Check(farcall::Outcome(bytes, 13) == whole, "pieces do not matter");
  if (size <= 300) {
    farcall::Check(farcall::Outcome(bytes, 1) == whole, "single bytes do not matter");
  }
  return 0;
}
