// SPDX-License-Identifier: Apache-2.0
//
// The doctors of a cluster, as a user names them.

#ifndef FARCALL_TOOLS_DOCTOR_CLUSTER_HOSTS_H_
#define FARCALL_TOOLS_DOCTOR_CLUSTER_HOSTS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "transport/address.h"

namespace farcall::doctor {

inline constexpr size_t kMaxHosts = 256;

struct HostLine {
  std::string host;  // a name or an address, without port
  uint16_t port = 0;
  std::vector<std::string> addresses{};  // more of that host
  bool all = false;                      // each address of the name is a host
};

// "a,b:18601,[fd00::1]:18600", "dns://NAME[:PORT]", and what ParseHostFile takes of "file://PATH".
// Errors name the word.
absl::StatusOr<std::vector<HostLine>> ParseHosts(absl::string_view text, uint16_t port);

// One host a line: HOST[:PORT], then more of its addresses; # begins a comment.
absl::StatusOr<std::vector<HostLine>> ParseHostFile(absl::string_view text, uint16_t port);

// A host of which the address is known.
struct Host {
  std::string name;  // as it was given; "" where an address of a name stands for a host
  Address server;
  std::vector<std::string> addresses{};
  std::string trouble{};  // why there is no address; "": there is
};

// Asks the system for addresses, which may take its time.
std::vector<Host> Resolve(const std::vector<HostLine>& lines);

}  // namespace farcall::doctor

#endif  // FARCALL_TOOLS_DOCTOR_CLUSTER_HOSTS_H_
