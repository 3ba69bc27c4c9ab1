// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_RPC_STATUS_OPTION_STATUS_H_
#define FARCALL_RPC_STATUS_OPTION_STATUS_H_

#include <string>

namespace farcall {

// An option in effect, for people.
struct OptionStatus {
  std::string name;
  std::string value;
  std::string from;  // "default", "program", "/etc/farcall.yaml:7", "FARCALL_EVENT_LOOPS"
};

}  // namespace farcall

#endif  // FARCALL_RPC_STATUS_OPTION_STATUS_H_
