// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_RPC_SETTINGS_SETTING_H_
#define FARCALL_RPC_SETTINGS_SETTING_H_

#include <string>

namespace farcall {

// What an operator asks for, as it is written.
struct Setting {
  std::string name;   // "rdma.ack_timeout"; not known to be one of the options
  std::string value;  // of a list: with commas
  std::string from;   // "/etc/farcall.yaml:7", "FARCALL_RDMA_ACK_TIMEOUT", "--rdma.ack_timeout"
  bool wins = false;  // over the program: a flag
};

}  // namespace farcall

#endif  // FARCALL_RPC_SETTINGS_SETTING_H_
