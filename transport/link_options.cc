// SPDX-License-Identifier: Apache-2.0

#include "transport/link_options.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "transport/base/option_field.h"

namespace farcall {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr Duration kMinTime = milliseconds(1);
constexpr size_t kMinWindow = 4096;
constexpr size_t kMaxWindow = size_t{1} << 30;

std::vector<OptionField> UpgradeFields(UpgradeTimes& times) {
  return {
      {.name = "first_pause",
       .target = &times.first_pause,
       .range = {kMinUpgradePause, hours(1)},
       .meaning = "after a first attempt at RDMA that failed, before the next"},
      {.name = "longest_pause",
       .target = &times.longest_pause,
       .range = {kMinUpgradePause, hours(24)},
       .meaning = "the pauses double up to this; at least first_pause"},
      {.name = "first_rest",
       .target = &times.first_rest,
       .range = {kMinTime, hours(24)},
       .meaning = "one of several rails that broke three times within 10 s rests for so long"},
      {.name = "longest_rest",
       .target = &times.longest_rest,
       .range = {kMinTime, hours(24)},
       .meaning = "the rests double up to this; at least first_rest"},
      {.name = "answer",
       .target = &times.answer,
       .range = {kMinTime, hours(1)},
       .meaning = "client: how long the server may take to offer RDMA"},
      {.name = "dial",
       .target = &times.dial,
       .range = {kMinTime, hours(1)},
       .meaning = "client: from the offer to an RDMA connection, over all addresses"},
  };
}

std::vector<OptionField> HelloFields(LinkOptions& options) {
  return {
      {.name = "require_timeout",
       .target = &options.require_timeout,
       .range = {kMinTime, hours(1)},
       .meaning = "with require_rdma: until a connection uses RDMA, or is an error"},
      {.name = "probe_timeout",
       .target = &options.probe_timeout,
       .range = {kMinTime, seconds(60)},
       .meaning = "client: how long looking for devices may hold up a connection"},
      {.name = "hello_timeout",
       .target = &options.hello_timeout,
       .range = {kMinTime, seconds(60)},
       .meaning = "client: how long a server may take to answer the hello"},
      {.name = "busy_hello_timeout",
       .target = &options.busy_hello_timeout,
       .range = {kMinTime, seconds(60)},
       .meaning = "the same for a server that has answered one before"},
      {.name = "silent_peer_memory",
       .target = &options.silent_peer_memory,
       .range = {Duration::zero(), hours(1)},
       .meaning = "client: how long a peer that did not answer is remembered"},
      {.name = "sniff_timeout",
       .target = &options.sniff_timeout,
       .range = {kMinTime, seconds(60)},
       .meaning = "server: how long it waits for the rest of a hello"},
  };
}

std::vector<OptionField> SizeFields(StreamLimits& limits) {
  return {
      {.name = "send_window",
       .target = &limits.send_window,
       .range = {kMinWindow, kMaxWindow},
       .bytes = true,
       .meaning = "sent and not acknowledged, at most; at most the peer's receive_window"},
      {.name = "receive_window",
       .target = &limits.receive_window,
       .range = {kMinWindow, kMaxWindow},
       .bytes = true,
       .meaning = "what a peer may send beyond what was acknowledged"},
      {.name = "max_data",
       .target = &limits.max_data,
       .range = {1024, kMaxLinkData},
       .bytes = true,
       .meaning = "payload of one frame of the link"},
      {.name = "least_slice",
       .target = &limits.least_slice,
       .range = {4 << 10, 1 << 20},
       .bytes = true,
       .meaning = "of bulk, what is given to one of several rails at once, at least"},
      {.name = "rails",
       .target = &limits.rails,
       .range = {1, kMaxRails},
       .meaning = "generations in use at the same time"},
  };
}

std::vector<OptionField> TimeFields(StreamLimits& limits) {
  return {
      {.name = "ack_delay",
       .target = &limits.ack_delay,
       .range = {milliseconds(1), milliseconds(100)},
       .meaning = "how long received bytes may wait for an acknowledgement"},
      {.name = "ping_interval",
       .target = &limits.ping_interval,
       .range = {milliseconds(10), seconds(10)},
       .meaning = "between PINGs while bytes are unacknowledged"},
      {.name = "progress_timeout",
       .target = &limits.progress_timeout,
       .range = {milliseconds(11), seconds(60)},
       .meaning = "RDMA that moves nothing for so long is given up; with require_rdma the last one "
                  "after peer_timeout; more than ping_interval"},
      {.name = "idle_ping",
       .target = &limits.idle_ping,
       .range = {milliseconds(10), hours(1)},
       .meaning = "silence after which a TCP connection is asked, while an answer is expected"},
      {.name = "peer_timeout",
       .target = &limits.peer_timeout,
       .range = {milliseconds(11), hours(1)},
       .meaning = "a peer that owes an answer and is silent for so long counts as dead; more than "
                  "ping_interval"},
      {.name = "stall_patience",
       .target = &limits.stall_patience,
       .range = {milliseconds(10), hours(1)},
       .meaning = "a peer that answers and takes nothing for so long is logged and counted"},
      {.name = "close_timeout",
       .target = &limits.close_timeout,
       .range = {milliseconds(1), hours(1)},
       .meaning = "from BYE to the end of the connection"},
  };
}

absl::Status MoreThanAPing(absl::string_view name, Duration value, const StreamLimits& limits) {
  if (value > limits.ping_interval) return absl::OkStatus();
  const auto ms = [](Duration time) { return time / milliseconds(1); };
  return absl::InvalidArgumentError(absl::StrCat("link.", name, " is ", ms(value),
                                                 " ms; it must be more than link.ping_interval, ",
                                                 ms(limits.ping_interval), " ms"));
}

absl::Status InOrder(absl::string_view what, Duration first, Duration longest) {
  if (longest >= first) return absl::OkStatus();
  const auto ms = [](Duration time) { return time / milliseconds(1); };
  return absl::InvalidArgumentError(absl::StrCat("link.longest_", what, " is ", ms(longest),
                                                 " ms; it must be at least link.first_", what, ", ",
                                                 ms(first), " ms"));
}

std::vector<OptionField> StreamFields(StreamLimits& limits) {
  std::vector<OptionField> all = SizeFields(limits);
  for (OptionField& field : TimeFields(limits)) all.push_back(std::move(field));
  return all;
}

}  // namespace

std::vector<OptionField> Fields(LinkOptions& options, absl::string_view prefix) {
  std::vector<OptionField> all = HelloFields(options);
  for (OptionField& field : UpgradeFields(options.upgrade)) all.push_back(std::move(field));
  for (OptionField& field : StreamFields(options.stream)) {
    // Those of ConnectionOptions and RdmaOptions count.
    if (field.name != "close_timeout" && field.name != "rails") all.push_back(std::move(field));
  }
  for (OptionField& field : all) field.name = absl::StrCat(prefix, field.name);
  return all;
}

absl::Status StreamLimits::Validate() const {
  StreamLimits copy = *this;
  std::vector<OptionField> fields = StreamFields(copy);
  for (OptionField& field : fields) field.name = absl::StrCat("link.", field.name);
  if (absl::Status status = CheckFields(fields); !status.ok()) return status;
  absl::Status status = MoreThanAPing("progress_timeout", progress_timeout, *this);
  return status.ok() ? MoreThanAPing("peer_timeout", peer_timeout, *this) : status;
}

absl::Status LinkOptions::Validate() const {
  LinkOptions copy = *this;
  absl::Status status = CheckFields(Fields(copy, "link."));
  if (status.ok()) status = InOrder("pause", upgrade.first_pause, upgrade.longest_pause);
  if (status.ok()) status = InOrder("rest", upgrade.first_rest, upgrade.longest_rest);
  return status.ok() ? stream.Validate() : status;
}

}  // namespace farcall
