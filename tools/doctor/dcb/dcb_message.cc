// SPDX-License-Identifier: Apache-2.0

#include "tools/doctor/dcb/dcb_message.h"

#include <linux/dcbnl.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <functional>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

namespace farcall::doctor {
namespace {

// Later than the oldest headers that this compiles with.
constexpr uint16_t kAppTrustTable = 11;  // DCB_ATTR_DCB_APP_TRUST_TABLE

constexpr uint8_t kEtherType = 1;  // IEEE 802.1Q, table D-8: with 0, the default priority
constexpr uint8_t kDatagram = 3;
constexpr uint8_t kAnyPort = 4;
constexpr uint8_t kDscp = 5;
constexpr uint16_t kRoceV2Port = 4791;

size_t Aligned(size_t size) { return (size + NLA_ALIGNTO - 1) / NLA_ALIGNTO * NLA_ALIGNTO; }

template <typename Value>
std::string BytesOf(const Value& value) {
  std::string bytes(sizeof(value), '\0');
  std::memcpy(bytes.data(), &value, sizeof(value));
  return bytes;
}

// The bytes at the front; false: there are fewer.
template <typename Value>
bool Take(absl::string_view bytes, Value& value) {
  if (bytes.size() < sizeof(value)) return false;
  std::memcpy(&value, bytes.data(), sizeof(value));
  return true;
}

using OnAttribute = std::function<absl::Status(uint16_t type, absl::string_view value)>;

absl::Status ForEach(absl::string_view bytes, const OnAttribute& look) {
  while (!bytes.empty()) {
    nlattr head{};
    if (!Take(bytes, head) || head.nla_len < sizeof(head) || head.nla_len > bytes.size()) {
      return absl::InvalidArgumentError("an attribute that does not fit its message");
    }
    const absl::string_view value = bytes.substr(sizeof(head), head.nla_len - sizeof(head));
    absl::Status status = look(head.nla_type & NLA_TYPE_MASK, value);
    if (!status.ok()) return status;
    bytes.remove_prefix(std::min(bytes.size(), Aligned(head.nla_len)));
  }
  return absl::OkStatus();
}

absl::Status TooShort(const char* what) {
  return absl::InvalidArgumentError(absl::StrCat(what, " is too short"));
}

absl::Status ReadEts(absl::string_view bytes, Dcb& dcb) {
  ieee_ets told{};
  if (!Take(bytes, told)) return TooShort("the kernel's ETS");
  Ets ets;
  for (size_t i = 0; i < kPriorities; ++i) {
    if (told.prio_tc[i] >= kPriorities) {
      return absl::InvalidArgumentError(absl::StrCat("priority ", i, " is in no traffic class"));
    }
    ets.class_of[i] = told.prio_tc[i];
    ets.share[i] = told.tc_tx_bw[i];
    ets.algorithm[i] = told.tc_tsa[i];
  }
  dcb.ets = ets;
  return absl::OkStatus();
}

absl::Status ReadPfc(absl::string_view bytes, Dcb& dcb) {
  ieee_pfc told{};
  if (!Take(bytes, told)) return TooShort("the kernel's PFC");
  Pfc pfc;
  pfc.on = told.pfc_en;
  for (size_t i = 0; i < kPriorities; ++i) {
    pfc.pauses_sent[i] = told.requests[i];
    pfc.pauses_received[i] = told.indications[i];
  }
  dcb.pfc = pfc;
  return absl::OkStatus();
}

absl::Status ReadEntry(uint16_t type, absl::string_view bytes, Dcb& dcb) {
  if (type != DCB_ATTR_IEEE_APP) return absl::OkStatus();
  dcb_app entry{};
  if (!Take(bytes, entry)) return TooShort("an entry of the kernel's table");
  if (entry.priority >= kPriorities) {
    return absl::InvalidArgumentError(
        absl::StrCat("an entry with priority ", entry.priority, " of 0 to 7"));
  }
  // Of several priorities the kernel takes the highest.
  const auto raise = [&](std::optional<uint8_t>& kept) {
    kept = std::max(kept.value_or(0), entry.priority);
  };
  if (entry.selector == kDscp && entry.protocol < 64) {
    uint8_t& kept = dcb.priority_of_dscp[static_cast<uint8_t>(entry.protocol)];
    kept = std::max(kept, entry.priority);
  } else if (entry.selector == kEtherType && entry.protocol == 0) {
    raise(dcb.default_priority);
  } else if ((entry.selector == kDatagram || entry.selector == kAnyPort) &&
             entry.protocol == kRoceV2Port) {
    raise(dcb.roce_priority);
  }
  return absl::OkStatus();
}

absl::Status ReadTrust(absl::string_view bytes, Dcb& dcb) {
  dcb.trusts_dscp = false;
  return ForEach(bytes, [&dcb](uint16_t, absl::string_view value) {
    uint8_t selector = 0;
    if (!Take(value, selector)) return TooShort("what the adapter trusts");
    if (selector == kDscp) dcb.trusts_dscp = true;
    return absl::OkStatus();
  });
}

absl::Status ReadIeee(uint16_t type, absl::string_view value, Dcb& dcb) {
  if (type == DCB_ATTR_IEEE_ETS) return ReadEts(value, dcb);
  if (type == DCB_ATTR_IEEE_PFC) return ReadPfc(value, dcb);
  if (type == kAppTrustTable) return ReadTrust(value, dcb);
  if (type != DCB_ATTR_IEEE_APP_TABLE) return absl::OkStatus();
  return ForEach(value, [&dcb](uint16_t entry, absl::string_view bytes) {
    return ReadEntry(entry, bytes, dcb);
  });
}

absl::Status ErrorOf(absl::string_view body) {
  nlmsgerr error{};
  if (!Take(body, error)) return TooShort("the kernel's error");
  const int number = -error.error;
  if (number == EOPNOTSUPP) {
    return absl::UnimplementedError("its driver, or the kernel, has no Data Center Bridging");
  }
  if (number <= 0 || number > 4095) return absl::InvalidArgumentError("an error without a number");
  return absl::InternalError(absl::StrCat("the kernel answers: ", std::strerror(number)));
}

absl::StatusOr<Dcb> ParseBody(absl::string_view body) {
  dcbmsg head{};
  if (!Take(body, head)) return TooShort("the kernel's answer");
  if (head.cmd != DCB_CMD_IEEE_GET) {
    return absl::InvalidArgumentError("an answer to another question");
  }
  Dcb dcb;
  absl::Status status =
      ForEach(body.substr(sizeof(head)), [&dcb](uint16_t type, absl::string_view value) {
        if (type != DCB_ATTR_IEEE) return absl::OkStatus();
        return ForEach(value, [&dcb](uint16_t inner, absl::string_view bytes) {
          return ReadIeee(inner, bytes, dcb);
        });
      });
  if (!status.ok()) return status;
  return dcb;
}

}  // namespace

std::string DcbQuestion(const std::string& interface, uint32_t sequence) {
  nlattr name{};
  name.nla_type = DCB_ATTR_IFNAME;
  name.nla_len = static_cast<uint16_t>(sizeof(name) + interface.size() + 1);
  dcbmsg question{};
  question.cmd = DCB_CMD_IEEE_GET;
  std::string attribute = BytesOf(name) + interface;
  attribute.resize(Aligned(name.nla_len), '\0');
  nlmsghdr head{};
  head.nlmsg_type = RTM_GETDCB;
  head.nlmsg_flags = NLM_F_REQUEST;
  head.nlmsg_seq = sequence;
  head.nlmsg_len = static_cast<uint32_t>(sizeof(head) + sizeof(question) + attribute.size());
  return BytesOf(head) + BytesOf(question) + attribute;
}

absl::StatusOr<Dcb> ParseDcbAnswer(absl::string_view bytes, uint32_t sequence) {
  while (!bytes.empty()) {
    nlmsghdr head{};
    if (!Take(bytes, head) || head.nlmsg_len < sizeof(head) || head.nlmsg_len > bytes.size()) {
      return absl::InvalidArgumentError("a message that does not fit what was received");
    }
    const absl::string_view body = bytes.substr(sizeof(head), head.nlmsg_len - sizeof(head));
    if (head.nlmsg_seq == sequence) {
      if (head.nlmsg_type == NLMSG_ERROR) return ErrorOf(body);
      if (head.nlmsg_type == RTM_GETDCB || head.nlmsg_type == RTM_SETDCB) return ParseBody(body);
    }
    bytes.remove_prefix(std::min(bytes.size(), Aligned(head.nlmsg_len)));
  }
  return absl::NotFoundError("no answer with that number");
}

}  // namespace farcall::doctor
