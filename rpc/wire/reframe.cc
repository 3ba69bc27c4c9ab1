// SPDX-License-Identifier: Apache-2.0

#include "rpc/wire/reframe.h"

#include <algorithm>
#include <chrono>
#include <climits>
#include <cstdint>
#include <string>
#include <utility>

#include "rpc/wire/frame.h"
#include "transport/base/check.h"

namespace farcall {
namespace {

// Whatever it is, it was encoded here.
constexpr FrameLimits kNoLimits{.max_body_size = UINT32_MAX, .max_meta_size = INT_MAX};

}  // namespace

Buffer Reframe(Buffer frame, absl::FunctionRef<void(wire::RpcMeta&)> change) {
  Frame cut;
  const absl::StatusOr<size_t> need = CutFrame(frame, kNoLimits, cut);
  Check(need.ok() && *need == 0 && frame.empty(), "it is one whole frame of our own");
  change(cut.meta);

  const auto encoder = FrameEncoder::Create(cut.meta, cut.payload, cut.attachment.size());
  Check(encoder.ok(), "a frame that was encoded is encoded again");
  std::string head(encoder->head_size(), '\0');
  encoder->WriteTo(head.data());
  Buffer framed{absl::string_view(head)};
  framed.Append(std::move(cut.payload));
  framed.Append(std::move(cut.attachment));
  return framed;
}

void SetTimeLeft(wire::RpcMeta& meta, Duration left) {
  const auto ms = std::chrono::ceil<std::chrono::milliseconds>(left).count();
  meta.mutable_request()->set_timeout_ms(static_cast<int32_t>(std::max<int64_t>(ms, 1)));
}

}  // namespace farcall
