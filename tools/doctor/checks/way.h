// SPDX-License-Identifier: Apache-2.0
//
// The way of farcall's packets through an adapter: traffic class -> DSCP -> priority -> traffic
// class of the adapter (ETS) -> flow control. Each step that is not known ends it.

#ifndef FARCALL_TOOLS_DOCTOR_CHECKS_WAY_H_
#define FARCALL_TOOLS_DOCTOR_CHECKS_WAY_H_

#include <cstdint>
#include <optional>
#include <string>

#include "tools/doctor/checks/finding.h"
#include "tools/doctor/dcb/dcb_facts.h"
#include "tools/node/inventory.h"

namespace farcall::doctor {

// Which type of service RDMA packets have; its upper six bits are the DSCP.
struct Mark {
  std::optional<uint32_t> tos;
  std::string by;  // who sets it: "FARCALL_TRAFFIC_CLASS"; where it is not known, why
};

// `own`: of FARCALL_TRAFFIC_CLASS. The driver's own setting passes over all others, and rdma_cm's
// default is for connections without one.
Mark MarkOf(const node::Port& port, std::optional<uint32_t> own);

struct Way {
  std::string interface;
  std::string of_bond;  // " (of eth1 in bond0)"; "" where there is no bond
  Mark mark;
  std::string trust;                 // what the adapter goes by, "dscp"; "": not known
  std::optional<uint32_t> priority;  // 0 to 7
  bool has_entry = false;            // the DSCP has one; else the priority is the default one
  std::optional<Ets> ets;
  std::optional<uint8_t> pfc;  // a bit for each priority
  std::optional<uint8_t> roce_priority;
  std::string trouble;  // what could not be asked; ""
};

// `netdev`: of the adapter. What the vendor's files say counts before what the kernel says.
Way WayOf(const node::Netdev& netdev, const node::Port& port, std::optional<uint32_t> own,
          const Dcb& dcb);

// The finding "pfc and trust". Ok only where each step is known and PFC is on at its end.
Finding CheckWay(const std::string& device, const Way& way);
// Where there is no interface to ask.
Finding NoWay(const std::string& device, const std::string& why);

}  // namespace farcall::doctor

#endif  // FARCALL_TOOLS_DOCTOR_CHECKS_WAY_H_
