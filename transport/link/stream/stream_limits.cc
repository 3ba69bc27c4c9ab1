// SPDX-License-Identifier: Apache-2.0

#include "transport/link/stream/stream_limits.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "transport/link/stream/frame.h"

namespace farcall {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::seconds;

absl::Status CheckBytes(absl::string_view name, size_t value, size_t least, size_t most) {
  if (value >= least && value <= most) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat(name, " is ", value, " bytes; it must be ", least, " to ", most));
}

absl::Status CheckTime(absl::string_view name, Duration value, Duration least, Duration most) {
  if (value >= least && value <= most) return absl::OkStatus();
  const auto us = [](Duration time) {
    return std::chrono::duration_cast<std::chrono::microseconds>(time).count();
  };
  return absl::InvalidArgumentError(
      absl::StrCat(name, " is ", us(value), " us; it must be ", us(least), " to ", us(most)));
}

}  // namespace

absl::Status StreamLimits::Validate() const {
  constexpr size_t kLeastWindow = 4096;
  constexpr size_t kMostWindow = size_t{1} << 30;
  const Duration more_than_a_ping = ping_interval + milliseconds(1);
  for (const absl::Status& status :
       {CheckBytes("send_window", send_window, kLeastWindow, kMostWindow),
        CheckBytes("receive_window", receive_window, kLeastWindow, kMostWindow),
        CheckBytes("max_data", max_data, 1024, kMaxLinkData),
        CheckTime("ack_delay", ack_delay, milliseconds(1), milliseconds(100)),
        CheckTime("ping_interval", ping_interval, milliseconds(10), seconds(10)),
        CheckTime("progress_timeout", progress_timeout, more_than_a_ping, seconds(60)),
        CheckTime("idle_ping", idle_ping, milliseconds(10), hours(1)),
        CheckTime("peer_timeout", peer_timeout, more_than_a_ping, hours(1)),
        CheckTime("stall_patience", stall_patience, milliseconds(10), hours(1)),
        CheckTime("close_timeout", close_timeout, milliseconds(1), hours(1))}) {
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

}  // namespace farcall
