// SPDX-License-Identifier: Apache-2.0

#include "transport/rdma_options.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "transport/address.h"

namespace farcall {
namespace {

struct Bound {
  absl::string_view field;
  uint64_t value;
  uint64_t low;
  uint64_t high;
};

absl::Status Wrong(absl::string_view field, absl::string_view value, absl::string_view rule) {
  return absl::InvalidArgumentError(
      absl::StrCat("RdmaOptions.", field, " is ", value, "; it must be ", rule));
}

absl::Status CheckBounds(const Bound& bound) {
  if (bound.value >= bound.low && bound.value <= bound.high) return absl::OkStatus();
  return Wrong(bound.field, absl::StrCat(bound.value),
               absl::StrCat("from ", bound.low, " to ", bound.high));
}

absl::Status CheckNames(const RdmaOptions& options) {
  for (const std::string& device : options.devices) {
    if (device.empty()) return Wrong("devices", "a list with an empty name", "names of devices");
  }
  for (const std::string& address : options.addresses) {
    const bool v6 = address.find(':') != std::string::npos;
    const auto parsed =
        Address::Parse(v6 ? absl::StrCat("[", address, "]:0") : absl::StrCat(address, ":0"));
    if (!parsed.ok() || parsed->family() == AddressFamily::kUnix) {
      return Wrong("addresses", absl::StrCat("a list with '", address, "'"),
                   "IPv4 and IPv6 addresses without port or brackets");
    }
  }
  return absl::OkStatus();
}

absl::Status CheckRelations(const RdmaOptions& options) {
  if (options.shared_receives < options.receive_slots) {
    return Wrong("shared_receives", absl::StrCat(options.shared_receives),
                 absl::StrCat("at least receive_slots, ", options.receive_slots));
  }
  if (MaxConnections(options, options.completion_queue_depth, true) == 0) {
    return Wrong("completion_queue_depth", absl::StrCat(options.completion_queue_depth),
                 absl::StrCat("at least shared_receives + send_slots, ",
                              options.shared_receives + options.send_slots));
  }
  constexpr Duration kLeast = std::chrono::milliseconds(10);
  constexpr Duration kMost = std::chrono::seconds(60);
  if (options.connect_timeout < kLeast || options.connect_timeout > kMost) {
    return Wrong("connect_timeout",
                 absl::StrCat(std::chrono::nanoseconds(options.connect_timeout).count(), " ns"),
                 "from 10 ms to 60 s");
  }
  return absl::OkStatus();
}

}  // namespace

absl::string_view ToString(RdmaSetUp set_up) {
  switch (set_up) {
    case RdmaSetUp::kAuto:
      return "auto";
    case RdmaSetUp::kRdmaCm:
      return "rdma_cm";
    case RdmaSetUp::kOverTcp:
      return "tcp";
  }
  return "unknown";
}

absl::Status RdmaOptions::Validate() const {
  if (absl::Status status = CheckNames(*this); !status.ok()) return status;
  const Bound bounds[] = {
      {"send_slots", send_slots, kMinSlots, kMaxSlots},
      {"receive_slots", receive_slots, kMinSlots, kMaxSlots},
      {"shared_receives", shared_receives, 16, kMaxSlots},
      {"max_shared_receives", max_shared_receives, 16, kMaxSlots},
      {"completion_queue_depth", completion_queue_depth, 256, 4'194'304},
      {"max_inline", max_inline, 0, 1024},
      {"max_send_segments", max_send_segments, 2, 64},
      {"retry_count", retry_count, 0, 6},
      {"ack_timeout", ack_timeout, 8, 22},
      {"rnr_retry", rnr_retry, 0, 7},
      {"min_rnr_timer", min_rnr_timer, 1, 31},
      {"copy_out_below", copy_out_below, 0, kReceiveBlock},
      {"read_window", read_window, 2, 64},
  };
  for (const Bound& bound : bounds) {
    if (absl::Status status = CheckBounds(bound); !status.ok()) return status;
  }
  if (read_at_least != 0) {
    const Bound bound{"read_at_least", read_at_least, 4 << 10, 64 << 10};
    if (absl::Status status = CheckBounds(bound); !status.ok()) return status;
  }
  return CheckRelations(*this);
}

uint32_t MaxConnections(const RdmaOptions& options, uint32_t depth, bool shared_queue) {
  const uint32_t own = kMinSlots + (options.read_at_least == 0 ? 0 : 1);
  if (!shared_queue) return depth / (own + options.receive_slots);
  if (depth < options.shared_receives + options.send_slots) return 0;
  // At most half of the entries are for receives, so the other half does for as many sends.
  const uint32_t most = std::max(options.shared_receives, options.max_shared_receives);
  return std::min(most / kMinSlots, depth / 2 / own);
}

}  // namespace farcall
