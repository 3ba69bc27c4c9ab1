// SPDX-License-Identifier: Apache-2.0

#include "tools/doctor/checks/way.h"

#include <algorithm>
#include <bit>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"

namespace farcall::doctor {
namespace {

constexpr const char* kPfc = "pfc and trust";
constexpr uint32_t kUsualPriority = 3;

// Bits of the driver's text; nothing where it does not tell: a flag for each of the eight
// ("0,0,0,1,0,0,0,0"), or their bits as one number ("0x8").
std::optional<uint8_t> PfcBits(absl::string_view text) {
  const std::vector<absl::string_view> flags =
      absl::StrSplit(text, absl::ByAnyChar(", \t\n"), absl::SkipEmpty());
  if (flags.size() == kPriorities) {
    uint32_t bits = 0;
    for (size_t i = 0; i < kPriorities; ++i) {
      if (flags[i] != "0" && flags[i] != "1") return std::nullopt;
      if (flags[i] == "1") bits |= 1u << i;
    }
    return static_cast<uint8_t>(bits);
  }
  int bits = 0;
  const bool one = flags.size() == 1 &&
                   (absl::SimpleAtoi(flags[0], &bits) || absl::SimpleHexAtoi(flags[0], &bits));
  if (!one || bits < 0 || bits > UINT8_MAX) return std::nullopt;
  return static_cast<uint8_t>(bits);
}

// Where both tell, PFC is on if both say so.
std::optional<uint8_t> PfcOf(const node::Netdev& netdev, const Dcb& dcb) {
  const std::optional<uint8_t> told = PfcBits(netdev.qos_pfc());
  if (!dcb.pfc.has_value()) return told;
  return static_cast<uint8_t>(dcb.pfc->on & told.value_or(UINT8_MAX));
}

std::string TrustOf(const node::Netdev& netdev, const Dcb& dcb) {
  if (!netdev.qos_trust().empty()) return netdev.qos_trust();
  if (!dcb.error.empty()) return "";
  return dcb.trusts_dscp.value_or(!dcb.priority_of_dscp.empty()) ? "dscp" : "pcp";
}

bool IsOn(uint8_t bits, uint32_t priority) { return (bits >> priority & 1) != 0; }

std::string PfcText(const Way& way) {
  if (!way.pfc.has_value()) return "PFC not readable";
  if (way.priority.has_value() && IsOn(*way.pfc, *way.priority)) return "PFC on";
  if (*way.pfc == 0) return "PFC off for all priorities";
  std::string on;
  for (uint32_t i = 0; i < kPriorities; ++i) {
    if (IsOn(*way.pfc, i)) absl::StrAppend(&on, on.empty() ? "" : ",", i);
  }
  return absl::StrCat(way.priority.has_value() ? "PFC off, on for " : "PFC on for ", on);
}

std::string ClassText(const Ets& ets, uint32_t priority) {
  const uint8_t of = ets.class_of[priority];
  const uint8_t algorithm = ets.algorithm[of];
  std::string how = "the vendor's way";
  if (algorithm == Ets::kStrict) how = "strict";
  if (algorithm == Ets::kShaper) how = "shaped by credits";
  if (algorithm == Ets::kShared) how = absl::StrCat("ETS ", ets.share[of], " %");
  return absl::StrCat("traffic class ", of, " (", how, ")");
}

// "trust dscp: FARCALL_TRAFFIC_CLASS 104 -> DSCP 26 -> priority 3 -> ... -> PFC on"
std::string Chain(const Way& way) {
  std::string text =
      absl::StrCat("trust ", way.trust.empty() ? "not readable" : way.trust, ": ", way.mark.by);
  if (way.mark.tos.has_value()) {
    absl::StrAppend(&text, " ", *way.mark.tos, " -> DSCP ", *way.mark.tos / 4);
  }
  if (way.priority.has_value()) {
    absl::StrAppend(&text, " -> priority ", *way.priority, way.has_entry ? "" : " by default");
    absl::StrAppend(&text, " -> ",
                    way.ets.has_value() ? ClassText(*way.ets, *way.priority)
                                        : std::string("traffic class not readable"));
  } else {
    absl::StrAppend(&text, " -> priority not known");
  }
  return absl::StrCat(text, " -> ", PfcText(way), way.of_bond,
                      way.trouble.empty() ? "" : "; " + way.trouble);
}

// Which priority shall have PFC: one that has it.
uint32_t Lossless(const Way& way) {
  const uint8_t bits = way.pfc.value_or(0);
  return bits == 0 ? kUsualPriority : static_cast<uint32_t>(std::countr_zero(bits));
}

struct Judgement {
  Verdict verdict;
  std::string meaning;
  std::string cure;
};

std::string Command(const Way& way, absl::string_view object, absl::string_view rest) {
  return absl::StrCat("dcb ", object, " dev ", way.interface, " ", rest);
}

Judgement NotKnown(const Way& way, absl::string_view what) {
  return {Verdict::kUnknown,
          absl::StrCat(what, ": RoCE without priority flow control needs ECN, or loses packets"),
          absl::StrCat("on the host: doctor, ", Command(way, "app show", "dscp-prio"), ", ",
                       Command(way, "pfc show", "prio-pfc"), ", mlnx_qos -i ", way.interface)};
}

Judgement GoesBy(const Way& way) {
  const std::string entry = absl::StrCat(
      "dscp-prio ", way.mark.tos.has_value() ? *way.mark.tos / 4 : 26, ":", Lossless(way));
  return {Verdict::kDegraded,
          "the adapter does not go by DSCP: what is marked so lands in the priority of the rest",
          absl::StrCat("mlnx_qos -i ", way.interface,
                       " --trust dscp; other vendors: ", Command(way, "app add", entry))};
}

Judgement PfcIsOff(const Way& way) {
  const uint32_t lossless = Lossless(way);
  const std::string pfc_on = Command(way, "pfc set", absl::StrCat("prio-pfc ", lossless, ":on"));
  std::string cure;
  if (way.mark.tos.value_or(4) < 4) {
    // To make the priority of all unmarked traffic lossless would help nobody.
    cure = absl::StrCat("FARCALL_TRAFFIC_CLASS=104, which is DSCP 26; ",
                        Command(way, "app replace", absl::StrCat("dscp-prio 26:", lossless)), "; ",
                        pfc_on);
  } else if (way.priority.has_value() && (*way.pfc != 0 || !way.has_entry)) {
    const std::string entry = absl::StrCat("dscp-prio ", *way.mark.tos / 4, ":", lossless);
    cure = absl::StrCat(Command(way, "app replace", entry), "; ", pfc_on);
  } else {
    cure = absl::StrCat(
        Command(way, "pfc set", absl::StrCat("prio-pfc ", way.priority.value_or(lossless), ":on")),
        ", or mlnx_qos -i ", way.interface, " --pfc");
  }
  return {Verdict::kDegraded,
          "RoCE without priority flow control needs ECN, or loses packets under load",
          cure + "; and the same in the switches"};
}

// The class is the priority's alone, or shared with others that are paused with it.
std::optional<Judgement> OfClass(const Way& way) {
  const Ets& ets = *way.ets;
  const uint8_t of = ets.class_of[*way.priority];
  std::string others;
  for (uint32_t i = 0; i < kPriorities; ++i) {
    if (ets.class_of[i] != of || IsOn(*way.pfc, i)) continue;
    absl::StrAppend(&others, others.empty() ? "" : ",", i);
  }
  if (!others.empty()) {
    return Judgement{Verdict::kDegraded,
                     absl::StrCat("priorities without PFC wait in the same traffic class (", others,
                                  "): each pause holds them up, too, and they hold up RoCE"),
                     absl::StrCat(Command(way, "ets set", "prio-tc"), " ", *way.priority,
                                  ":N, a traffic class of its own")};
  }
  if (ets.algorithm[of] == Ets::kShared && ets.share[of] == 0) {
    return Judgement{Verdict::kDegraded,
                     "this traffic class has no share of the link while others have work",
                     absl::StrCat(Command(way, "ets set", "tc-bw"), " ", of,
                                  ":50, and those of all classes 100 together")};
  }
  return std::nullopt;
}

Judgement Judge(const Way& way) {
  if (!way.trust.empty() && way.trust != "dscp") return GoesBy(way);
  if (way.pfc == 0) return PfcIsOff(way);
  if (way.trust.empty()) return NotKnown(way, "what the adapter goes by is not known");
  if (!way.mark.tos.has_value()) return NotKnown(way, "with which mark packets leave is not known");
  if (!way.priority.has_value()) return NotKnown(way, "which priority it becomes is not known");
  if (!way.pfc.has_value()) return NotKnown(way, "whether it has PFC is not known");
  if (!IsOn(*way.pfc, *way.priority)) return PfcIsOff(way);
  if (way.roce_priority.has_value() && *way.roce_priority != *way.priority) {
    return {Verdict::kDegraded,
            absl::StrCat("the adapter has a rule that UDP port 4791, RoCE v2, has priority ",
                         *way.roce_priority, ": which of the two counts is the driver's choice"),
            Command(way, "app replace", absl::StrCat("dgram-port-prio 4791:", *way.priority))};
  }
  if (!way.ets.has_value())
    return NotKnown(way, "with whom it shares a traffic class is not known");
  if (const auto judgement = OfClass(way)) return *judgement;
  return {Verdict::kOk, "", ""};
}

}  // namespace

Mark MarkOf(const node::Port& port, std::optional<uint32_t> own) {
  // "Global tclass=106"; 0 marks nothing.
  absl::string_view driver = port.traffic_class();
  if (driver.find_first_of("123456789") != absl::string_view::npos) {
    uint32_t tos = 0;
    const bool global = absl::ConsumePrefix(&driver, "Global tclass=");
    if (!global || !absl::SimpleAtoi(driver, &tos) || tos > UINT8_MAX) {
      return {std::nullopt, absl::StrCat("the driver's \"", port.traffic_class(), "\"")};
    }
    return {tos, "the driver's traffic_class"};
  }
  if (own.value_or(0) != 0) return {own, "FARCALL_TRAFFIC_CLASS"};
  if (port.has_default_roce_tos()) return {port.default_roce_tos(), "rdma_cm's default"};
  return {std::nullopt, "FARCALL_TRAFFIC_CLASS is not set, and rdma_cm's default not readable"};
}

Way WayOf(const node::Netdev& netdev, const node::Port& port, std::optional<uint32_t> own,
          const Dcb& dcb) {
  Way way;
  way.interface = netdev.name();
  way.mark = MarkOf(port, own);
  way.trust = TrustOf(netdev, dcb);
  way.pfc = PfcOf(netdev, dcb);
  way.ets = dcb.ets;
  way.roce_priority = dcb.roce_priority;
  way.trouble = dcb.error;
  // The vendor's files do not tell priorities: without the kernel's entries they are not known.
  if (way.mark.tos.has_value() && dcb.error.empty() && !dcb.priority_of_dscp.empty()) {
    const auto entry = dcb.priority_of_dscp.find(static_cast<uint8_t>(*way.mark.tos / 4));
    way.has_entry = entry != dcb.priority_of_dscp.end();
    way.priority = way.has_entry ? entry->second : dcb.default_priority.value_or(0);
  }
  return way;
}

Finding CheckWay(const std::string& device, const Way& way) {
  const Judgement judgement = Judge(way);
  return {kPfc, device, judgement.verdict, Chain(way), judgement.meaning, judgement.cure};
}

Finding NoWay(const std::string& device, const std::string& why) {
  return Unknown(kPfc, device, why,
                 "which priority packets have, and whether it is lossless, is not known",
                 "doctor on the host");
}

}  // namespace farcall::doctor
