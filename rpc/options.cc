// SPDX-License-Identifier: Apache-2.0

#include "rpc/options.h"

#include <cstdint>
#include <initializer_list>
#include <type_traits>

#include "absl/strings/str_cat.h"

namespace farcall {
namespace {

template <typename Number>
absl::Status InRange(const char* name, Number value, std::type_identity_t<Number> low,
                     std::type_identity_t<Number> high) {
  if (value >= low && value <= high) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat(name, " must be ", low, " to ", high, ", not ", value));
}

absl::Status First(std::initializer_list<absl::Status> checks) {
  for (const absl::Status& status : checks) {
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

absl::Status CheckBodySize(size_t bytes) {
  return InRange("max_body_size", bytes, 1024, UINT32_MAX);
}

}  // namespace

absl::Status RuntimeOptions::Validate() const {
  return First({
      InRange("event_loops", event_loops, 0, 256),
      InRange("max_blocked_threads", max_blocked_threads, 1, 1024),
      polling.Validate(),
      pool.Validate(),
      rdma.Validate(),
  });
}

absl::Status ChannelOptions::Validate() const {
  return First({
      timeout_ms == -1 ? absl::OkStatus() : InRange("timeout_ms", timeout_ms, 1, INT32_MAX),
      InRange("connect_timeout_ms", connect_timeout_ms, 1, 60'000),
      CheckBodySize(max_body_size),
      InRange("max_backlog", max_backlog, 64 << 10, SIZE_MAX),
      InRange("max_pending_calls", max_pending_calls, 1, 1'000'000),
      InRange("traffic_class", traffic_class, -1, 255),
  });
}

absl::Status ServerOptions::Validate() const {
  return First({
      InRange("handler_threads", handler_threads, -1, 1024),
      InRange("max_concurrency", max_concurrency, 0, INT32_MAX),
      InRange("max_concurrency_per_connection", max_concurrency_per_connection, 1, 1'000'000),
      CheckBodySize(max_body_size),
      InRange("traffic_class", traffic_class, -1, 255),
  });
}

}  // namespace farcall
