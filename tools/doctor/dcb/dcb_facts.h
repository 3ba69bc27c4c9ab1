// SPDX-License-Identifier: Apache-2.0
//
// How an adapter sorts, shares and holds back packets: Data Center Bridging (IEEE 802.1Q), of one
// network interface. What its driver does not tell is not set.

#ifndef FARCALL_TOOLS_DOCTOR_DCB_DCB_FACTS_H_
#define FARCALL_TOOLS_DOCTOR_DCB_DCB_FACTS_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>

namespace farcall::doctor {

inline constexpr size_t kPriorities = 8;  // as many as traffic classes

// Which class a priority's packets wait in, and how the classes share the link.
struct Ets {
  enum Algorithm : uint8_t { kStrict = 0, kShaper = 1, kShared = 2, kOfVendor = 255 };

  std::array<uint8_t, kPriorities> class_of{};   // by priority; 0 to 7
  std::array<uint8_t, kPriorities> share{};      // per cent, by class, of those that are kShared
  std::array<uint8_t, kPriorities> algorithm{};  // by class
};

// Priority flow control: a receiver asks for a pause of one priority before it has to drop.
struct Pfc {
  uint8_t on = 0;  // a bit for each priority
  std::array<uint64_t, kPriorities> pauses_sent{};
  std::array<uint64_t, kPriorities> pauses_received{};
};

struct Dcb {
  std::string error;  // why nothing is known: it was not asked, or does not answer; "": it did
  std::optional<Ets> ets;
  std::optional<Pfc> pfc;
  // Of DSCPs that the adapter has an entry for; without any, it does not go by DSCP.
  std::map<uint8_t, uint8_t> priority_of_dscp;
  // What the adapter goes by, where its driver has a list of that: true, DSCP is in it.
  std::optional<bool> trusts_dscp;
  // Of packets that no other entry is for.
  std::optional<uint8_t> default_priority;
  // An entry for UDP port 4791, RoCE v2.
  std::optional<uint8_t> roce_priority;
};

}  // namespace farcall::doctor

#endif  // FARCALL_TOOLS_DOCTOR_DCB_DCB_FACTS_H_
