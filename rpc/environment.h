// SPDX-License-Identifier: Apache-2.0
//
// What the environment says where a program's options say nothing, so that a pod's manifest can
// decide it. All variables that the library reads are here.

#ifndef FARCALL_RPC_ENVIRONMENT_H_
#define FARCALL_RPC_ENVIRONMENT_H_

#include <string>

namespace farcall {

// ChannelOptions and ServerOptions::traffic_class; rpc/traffic_class.h.
constexpr char kTrafficClassVariable[] = "FARCALL_TRAFFIC_CLASS";
// RdmaOptions::network_status.
constexpr char kNetworkStatusVariable[] = "FARCALL_NETWORK_STATUS";

// Empty: it is unset, or empty. Any thread, as long as none calls setenv(3).
std::string FromEnvironment(const char* variable);

}  // namespace farcall

#endif  // FARCALL_RPC_ENVIRONMENT_H_
