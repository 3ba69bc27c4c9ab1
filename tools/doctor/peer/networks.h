// SPDX-License-Identifier: Apache-2.0

#ifndef FARCALL_TOOLS_DOCTOR_PEER_NETWORKS_H_
#define FARCALL_TOOLS_DOCTOR_PEER_NETWORKS_H_

#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "transport/address.h"

namespace farcall::doctor {

// A set of IP addresses, as a user writes it: "10.0.0.0/8,fd00::/8". A value; pure.
class Networks {
 public:
  // An address without a length is that address alone. Errors name the word and what it should be.
  static absl::StatusOr<Networks> Parse(absl::string_view text);

  bool Contains(const Address& address) const;

 private:
  struct Network {
    Address first;
    int bits = 0;
  };
  std::vector<Network> networks_;
};

// "10.0.0.1" or "fd00::1" with a port; kInvalidArgument: a name, or something else.
absl::StatusOr<Address> IpWithPort(absl::string_view ip, uint16_t port);

}  // namespace farcall::doctor

#endif  // FARCALL_TOOLS_DOCTOR_PEER_NETWORKS_H_
