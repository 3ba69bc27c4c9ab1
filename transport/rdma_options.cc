// SPDX-License-Identifier: Apache-2.0

#include "transport/rdma_options.h"

#include <algorithm>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "transport/address.h"
#include "transport/base/option_field.h"

namespace farcall {
namespace {

absl::Status Wrong(absl::string_view field, absl::string_view value, absl::string_view rule) {
  return absl::InvalidArgumentError(
      absl::StrCat("rdma.", field, " is ", value, "; it must be ", rule));
}

absl::Status CheckNames(const RdmaOptions& options) {
  for (const std::string& device : options.devices) {
    if (device.empty()) return Wrong("devices", "a list with an empty name", "names of devices");
  }
  for (const std::string& address : options.addresses) {
    if (!Address::ParseIp(address).ok()) {
      return Wrong("addresses", absl::StrCat("a list with '", address, "'"),
                   "IPv4 and IPv6 addresses without port or brackets");
    }
  }
  return absl::OkStatus();
}

absl::Status CheckRelations(const RdmaOptions& options) {
  if (options.shared_receives < options.receive_slots) {
    return Wrong("shared_receives", absl::StrCat(options.shared_receives),
                 absl::StrCat("at least rdma.receive_slots, ", options.receive_slots));
  }
  if (MaxConnections(options, options.completion_queue_depth, true) == 0) {
    return Wrong("completion_queue_depth", absl::StrCat(options.completion_queue_depth),
                 absl::StrCat("at least rdma.shared_receives + rdma.send_slots, ",
                              options.shared_receives + options.send_slots));
  }
  return absl::OkStatus();
}

OptionField::OwnForm Form(RdmaSetUp& set_up) {
  constexpr RdmaSetUp kAll[] = {RdmaSetUp::kAuto, RdmaSetUp::kRdmaCm, RdmaSetUp::kOverTcp};
  return {.get = [&set_up] { return std::string(ToString(set_up)); },
          .set =
              [&set_up, kAll](absl::string_view text) {
                for (const RdmaSetUp one : kAll) {
                  if (ToString(one) != text) continue;
                  set_up = one;
                  return true;
                }
                return false;
              },
          .expected = "auto, rdma_cm or tcp"};
}

OptionField::OwnForm PartitionForm(uint16_t& key) {
  return {.get =
              [&key] {
                return key == 0 ? "first" : absl::StrCat("0x", absl::Hex(key, absl::kZeroPad4));
              },
          .set =
              [&key](absl::string_view text) {
                uint32_t value = 0;
                const bool hexadecimal = absl::StartsWith(text, "0x");
                const bool read = hexadecimal ? absl::SimpleHexAtoi(text, &value)
                                              : absl::SimpleAtoi(text, &value);
                if (text != "first" && (!read || value > UINT16_MAX)) return false;
                key = static_cast<uint16_t>(value);
                return true;
              },
          .expected = "first, or a key of 16 bits, such as 0x8001"};
}

std::vector<OptionField> AddressFields(RdmaOptions& options) {
  return {
      {.name = "devices",
       .target = &options.devices,
       .special = {{0, "all"}},
       .meaning = "only these devices, by the names that `rdma link` shows"},
      {.name = "addresses",
       .target = &options.addresses,
       .special = {{0, "all"}},
       .meaning = "IP addresses, without port, at which a server offers RDMA"},
      {.name = "network_status",
       .target = &options.network_status,
       .special = {{0, "none"}},
       .meaning = "a file with the pod's annotation k8s.v1.cni.cncf.io/network-status"},
      {.name = "set_up",
       .target = Form(options.set_up),
       .meaning = "how queue pairs are set up; auto: by rdma_cm where an address leads to a "
                  "device, else over TCP"},
      {.name = "rails",
       .target = &options.rails,
       .range = {1, 8},
       .special = {{0, "all"}},
       .meaning = "RDMA connections that one connection to a server uses at the same time, over "
                  "different adapters where it can; all: one for each pair of adapters"},
      {.name = "service_level",
       .target = &options.service_level,
       .range = {0, 15},
       .meaning = "of a client's connections that are set up over TCP; RoCE: VLAN priority"},
      {.name = "partition_key",
       .target = PartitionForm(options.partition_key),
       .meaning = "the InfiniBand partition of connections that are set up over TCP; first: each "
                  "port's first key"},
      {.name = "listen_port",
       .target = &options.listen_port,
       .range = {0, 65'535},
       .special = {{0, "any"}},
       .meaning = "the RDMA port that a server listens on"},
  };
}

std::vector<OptionField> QueueFields(RdmaOptions& options) {
  return {
      {.name = "send_slots",
       .target = &options.send_slots,
       .range = {kMinSlots, kMaxSlots},
       .meaning = "sends in flight on one connection"},
      {.name = "receive_slots",
       .target = &options.receive_slots,
       .range = {kMinSlots, kMaxSlots},
       .meaning = "most receives that one connection has credit for"},
      {.name = "shared_receives",
       .target = &options.shared_receives,
       .range = {16, kMaxSlots},
       .meaning = "receives of 64 KiB that a loop posts on a device at first; at least "
                  "receive_slots"},
      {.name = "max_shared_receives",
       .target = &options.max_shared_receives,
       .range = {16, kMaxSlots},
       .meaning = "most that these become with more connections"},
      {.name = "completion_queue_depth",
       .target = &options.completion_queue_depth,
       .range = {256, 4'194'304},
       .meaning = "entries of the completion queue of a loop and device"},
      {.name = "max_inline",
       .target = &options.max_inline,
       .range = {0, 1024},
       .meaning = "bytes that are sent out of the work request itself"},
      {.name = "max_send_segments",
       .target = &options.max_send_segments,
       .range = {2, 64},
       .meaning = "pieces of memory that one message is gathered from"},
  };
}

std::vector<OptionField> LossFields(RdmaOptions& options) {
  using std::chrono::milliseconds;
  using std::chrono::seconds;
  return {
      {.name = "retry_count",
       .target = &options.retry_count,
       .range = {0, 6},
       .meaning = "how often a lost packet is sent again before the connection is given up"},
      {.name = "ack_timeout",
       .target = &options.ack_timeout,
       .range = {8, 22},
       .meaning = "a packet counts as lost after 4.096 us * 2^ack_timeout without an answer; 16 "
                  "is 268 ms"},
      {.name = "rnr_retry",
       .target = &options.rnr_retry,
       .range = {0, 7},
       .meaning = "how often a message is sent again that met no posted receive; 7: for ever"},
      {.name = "min_rnr_timer",
       .target = &options.min_rnr_timer,
       .range = {1, 31},
       .meaning = "how long the peer waits before that, as a code of ibv_modify_qp(3); 12 is "
                  "0.64 ms"},
      {.name = "connect_timeout",
       .target = &options.connect_timeout,
       .range = {milliseconds(10), seconds(60)},
       .meaning = "longest time of each step of setting up: address, route, connect"},
  };
}

std::vector<OptionField> MemoryFields(RdmaOptions& options) {
  return {
      {.name = "copy_out_below",
       .target = &options.copy_out_below,
       .range = {0, kReceiveBlock},
       .bytes = true,
       .meaning = "a message of fewer bytes is copied out of its receive block"},
      {.name = "relaxed_ordering",
       .target = &options.relaxed_ordering,
       .meaning = "PCIe may reorder the writes of one message"},
      {.name = "read_at_least",
       .target = &options.read_at_least,
       .range = {4 << 10, 64 << 10},
       .special = {{kReadNever, "never"}},
       .special_too = {{kReadAuto, "auto"}},
       .bytes = true,
       .meaning = "registered memory of at least so many bytes is fetched by RDMA READ"},
      {.name = "read_window",
       .target = &options.read_window,
       .range = {2, 64},
       .meaning = "pieces that are fetched at a time from one peer"},
  };
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

std::vector<OptionField> Fields(RdmaOptions& options, absl::string_view prefix) {
  std::vector<OptionField> all;
  for (const auto some : {AddressFields, QueueFields, LossFields, MemoryFields}) {
    for (OptionField& field : some(options)) {
      field.name = absl::StrCat(prefix, field.name);
      all.push_back(std::move(field));
    }
  }
  return all;
}

absl::Status RdmaOptions::Validate() const {
  if (absl::Status status = CheckNames(*this); !status.ok()) return status;
  RdmaOptions copy = *this;
  if (absl::Status status = CheckFields(Fields(copy, "rdma.")); !status.ok()) return status;
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
